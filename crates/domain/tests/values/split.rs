//! Tests the shares of a charge: validation, the stored form, and the parts of a paid charge.

use cais_domain::charge::Charge;
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount};
use cais_domain::money::Money;
use cais_domain::split::{MAX_SHARES, Share, Split, SplitError};
use jiff::Timestamp;
use proptest::prelude::*;
use uuid::Uuid;

use crate::credit::{payment, pending};
use crate::rate::percentage;

fn account(number: usize) -> AccountId {
    AccountId::new(Uuid::from_u128(1_000 + u128::try_from(number).unwrap()))
}

fn shares(ten_thousandths: &[u32]) -> Vec<Share> {
    let share = |(number, part): (usize, &u32)| Share { recipient: account(number), percentage: percentage(*part) };
    ten_thousandths.iter().enumerate().map(share).collect()
}

#[test]
fn invalid_split_is_refused() {
    assert_eq!(Split::try_new(shares(&[1; MAX_SHARES + 1])), Err(SplitError::TooMany));
    assert_eq!(Split::try_new(shares(&[1, 0])), Err(SplitError::NothingShared(1)));
    assert_eq!(Split::try_new(shares(&[600_000, 400_001])), Err(SplitError::AboveWhole));
    let twice = shares(&[1, 2]).into_iter().chain(shares(&[3])).collect();
    assert_eq!(Split::try_new(twice), Err(SplitError::Twice(2)));
    assert!(Split::try_new(shares(&[200_000; MAX_SHARES])).is_ok(), "the shares may be the whole net value");
}

#[test]
fn split_parses_only_its_own_format() {
    let split = Split::try_new(shares(&[125_000, 1])).unwrap();
    assert!(split.to_string().ends_with(":0.0001"), "{split}");
    assert_eq!(Split::parse(&split.to_string()), Some(split.clone()));
    assert_eq!(Split::parse(""), Some(Split::NONE));
    for text in ["acc_1:2", "12.5", &format!("{}:101", account(1)), &format!("{split},{split}")] {
        assert_eq!(Split::parse(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn paid_charge_is_divided_without_loss(
        amount in 200_i64..10_000_000,
        fee in 0_i64..200,
        surplus in 0_i64..1_000,
        delay_s in prop_oneof![Just(0_u32), 1_u32..10_000],
        cuts in proptest::collection::vec(1_u32..=200_000, 0..=5),
    ) {
        let split = Split::try_new(shares(&cuts)).unwrap();
        let open = pending(amount, fee);
        let open = Charge { terms: cais_domain::charge::ChargeTerms { split, ..open.terms.clone() }, ..open };
        let creator = open.account;
        let credit = open.credit(payment(0, amount + surplus), delay_s, Timestamp::UNIX_EPOCH).unwrap();
        let sum = Money::sum(credit.transfers.iter().map(|transfer| transfer.amount)).unwrap();
        prop_assert_eq!(sum, Money::from_centavos(amount + surplus));
        let settlement = credit.charge.unwrap().state.settlement().cloned().unwrap();
        prop_assert_eq!(settlement.parts.len(), cuts.len());
        let parts = Money::sum(settlement.parts.iter().copied()).unwrap();
        let mine = Money::from_centavos(amount + surplus - fee).checked_sub(parts).unwrap();
        for (cut, part) in cuts.iter().zip(&settlement.parts) {
            prop_assert_eq!(part.centavos(), (amount - fee) * i64::from(*cut) / 1_000_000);
        }
        let bucket = if delay_s > 0 { Bucket::Pending } else { Bucket::Available };
        for transfer in &credit.transfers {
            let (kind, to) = (transfer.kind, transfer.to.clone());
            prop_assert_eq!(kind == EntryKind::Split, transfer.resource.is_none(), "a beneficiary's transfer has no data of the charge");
            if kind == EntryKind::Charge || kind == EntryKind::ExtraPayment {
                prop_assert_eq!(to, LedgerAccount::Merchant(creator, bucket));
            }
        }
        let waits = credit.release.map_or(Money::ZERO, |release| release.amount);
        prop_assert_eq!(waits, if delay_s > 0 { mine } else { Money::ZERO });
    }
}
