//! Tests the credit of payments: every amount that arrives is credited, and a charge is settled at most once.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus, ChargeTerms, Issued, Origin, Step};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, ChargeId};
use cais_domain::money::Money;
use cais_domain::payment::{Payment, PaymentRole};
use cais_domain::split::Split;
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use uuid::Uuid;

pub fn pending(amount: i64, fee: i64) -> Charge {
    let acquirer = AcquirerName::parse("main").unwrap();
    let terms = ChargeTerms {
        amount: Money::from_centavos(amount),
        fee: Money::from_centavos(fee),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback: None,
        split: Split::NONE,
        origin: Origin::Api,
    };
    let at = Timestamp::UNIX_EPOCH;
    let id = Uuid::from_u128(7);
    let charge = Charge::open(ChargeId::new(id), AccountId::new(id), terms, acquirer.clone(), at);
    let expires_at = at.checked_add(SignedDuration::from_hours(1)).unwrap();
    match charge.issue(Issued { acquirer, copy_paste: "000201".into(), expires_at }).unwrap() {
        Step::Taken { charge, .. } | Step::AlreadyTaken(charge) => charge,
    }
}

pub fn payment(index: usize, amount: i64) -> Payment {
    Payment {
        end_to_end_id: EndToEndId::parse(&format!("E12345678197001010000{index:011}")).unwrap(),
        amount: Money::from_centavos(amount),
        paid_at: Timestamp::UNIX_EPOCH,
        acquirer: AcquirerName::parse("main").unwrap(),
    }
}

proptest! {
    #[test]
    fn arriving_money_is_credited_and_one_payment_settles(
        amount in 200_i64..10_000_000,
        fee_share in 0_i64..=100,
        arrivals in proptest::collection::vec(1_i64..20_000_000, 0..8),
    ) {
        let fee = amount / 100 * fee_share;
        let mut charge = pending(amount, fee);
        let (mut settled, mut published, mut moved) = (0, 0, 0);
        for (index, arrival) in arrivals.iter().enumerate() {
            let credit = charge.clone().credit(payment(index, *arrival), 0, Timestamp::UNIX_EPOCH).unwrap();
            let sum = Money::sum(credit.transfers.iter().map(|transfer| transfer.amount)).unwrap();
            prop_assert_eq!(sum, Money::from_centavos(*arrival));
            prop_assert!(credit.transfers.iter().all(|transfer| transfer.amount.is_positive()));
            settled += usize::from(credit.payment.role == PaymentRole::Settles);
            published += usize::from(credit.event == Some(EventType::ChargePaid));
            moved += sum.centavos();
            charge = credit.charge.unwrap_or(charge);
        }
        let reached = arrivals.iter().any(|arrival| *arrival >= amount);
        prop_assert_eq!(charge.state.status() == ChargeStatus::Paid, reached);
        prop_assert_eq!((settled, published), (usize::from(reached), usize::from(reached)));
        prop_assert_eq!(moved, arrivals.iter().sum::<i64>());
    }
}
