//! Block arithmetic: what is held, what is freed, and where a shortfall is taken from.

use cais_domain::block::{Block, BlockEnd, end, hold, sweep};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ledger::{Bucket, Cover, EntryKind, LedgerAccount, SystemAccount, Transfer};
use cais_domain::money::Money;
use proptest::prelude::*;

use crate::book::{Book, account, infraction_id, money};

fn block(number: usize, limit: i64, held: i64) -> Block {
    let end_to_end_id = EndToEndId::parse("E1234567820260102030400000000001").unwrap();
    Block {
        account: account(),
        infraction: infraction_id(number),
        end_to_end_id,
        limit: money(limit),
        held: money(held),
    }
}

/// `from > to infraction amount`.
fn movements(transfers: &[Transfer]) -> Vec<String> {
    let place = |account: &LedgerAccount| match account {
        LedgerAccount::Merchant(_, bucket) => bucket.as_str().to_owned(),
        LedgerAccount::System(..) => account.holder(),
    };
    let line = |transfer: &Transfer| {
        let number = (0..10).find(|number| transfer.resource == Some(infraction_id(*number).to_string())).unwrap();
        assert_eq!(transfer.cover, Cover::Required, "a block never lends");
        format!("{} > {} {number} {}", place(&transfer.from), place(&transfer.to), transfer.amount)
    };
    transfers.iter().map(line).collect()
}

#[test]
fn the_oldest_is_filled_first_and_what_is_available_before_what_waits() {
    let mut blocks = [block(1, 300, 100), block(2, 500, 500), block(3, 400, 0)];
    let swept = sweep(money(250), money(1_000), &mut blocks).unwrap();
    let expected = ["available > blocked 1 2.00", "available > blocked 3 0.50", "pending > blocked 3 3.50"];
    assert_eq!(movements(&swept), expected);
    assert!(swept.iter().all(|transfer| transfer.kind == EntryKind::Infraction));
    assert!(blocks.iter().all(|block| block.shortfall().unwrap().is_zero()));
    assert_eq!(sweep(money(250), money(250), &mut blocks).unwrap(), [], "nothing is missing any more");
}

#[test]
fn a_lower_limit_frees_what_is_above_it_and_a_higher_one_moves_nothing_by_itself() {
    let mut held = block(1, 300, 300);
    assert_eq!(hold(&mut held, money(500)).unwrap(), None);
    assert_eq!((held.limit, held.held), (money(500), money(300)));
    let freed = hold(&mut held, money(120)).unwrap().unwrap();
    assert_eq!(freed.kind, EntryKind::InfractionReleased);
    assert_eq!(movements(&[freed]), ["blocked > available 1 1.80"]);
    assert_eq!((held.limit, held.held), (money(120), money(120)));
}

#[test]
fn a_block_ends_once_in_full_and_one_that_holds_nothing_moves_nothing() {
    let settlement = LedgerAccount::System(
        SystemAccount::Settlement(cais_domain::acquirer_name::AcquirerName::parse("main").unwrap()),
        3,
    );
    let returned = BlockEnd::Returned(settlement.clone());
    let held = block(1, 300, 200);
    let available = LedgerAccount::Merchant(account(), Bucket::Available);
    assert_eq!(Book::released_to(&held, &BlockEnd::Released), Some(available));
    assert_eq!(Book::released_to(&held, &returned), Some(settlement));
    let moved = end(&held, &returned).unwrap();
    assert_eq!((moved.kind, moved.amount), (EntryKind::InfractionReturned, money(200)));
    assert_eq!(end(&held, &BlockEnd::Released).unwrap().kind, EntryKind::InfractionReleased);
    for to in [BlockEnd::Released, returned] {
        assert_eq!(end(&block(1, 300, 0), &to), None);
    }
}

proptest! {
    #[test]
    fn a_sweep_takes_all_that_is_missing_or_all_that_is_there(
        available in 0_i64..2_000,
        pending in 0_i64..2_000,
        wanted in proptest::collection::vec((0_i64..1_000, 0_i64..=100), 0..6),
    ) {
        let mut blocks: Vec<Block> = wanted
            .iter()
            .enumerate()
            .map(|(number, (limit, percent))| block(number, *limit, limit * percent / 100))
            .collect();
        let before = blocks.clone();
        let missing = Money::sum(before.iter().map(|block| block.shortfall().unwrap())).unwrap().centavos();
        let swept = sweep(money(available), money(pending), &mut blocks).unwrap();
        let from = |bucket| {
            let of = |transfer: &&Transfer| transfer.from == LedgerAccount::Merchant(account(), bucket);
            Money::sum(swept.iter().filter(of).map(|transfer| transfer.amount)).unwrap().centavos()
        };
        let (first, second) = (from(Bucket::Available), from(Bucket::Pending));
        prop_assert_eq!(first, missing.min(available));
        prop_assert_eq!(second, (missing - first).min(pending));
        let grown: i64 = blocks.iter().zip(&before).map(|(after, before)| after.held.centavos() - before.held.centavos()).sum();
        prop_assert_eq!(grown, first + second);
        prop_assert!(blocks.iter().all(|block| block.held <= block.limit && !block.held.is_negative()));
        let short: Vec<bool> = blocks.iter().map(|block| block.shortfall().unwrap().is_positive()).collect();
        let partly = blocks.iter().zip(&before).filter(|(after, before)| {
            after.held > before.held && after.shortfall().unwrap().is_positive()
        });
        prop_assert!(partly.count() <= 1, "one at a time");
        if let Some(first) = short.iter().position(|short| *short) {
            let younger = blocks.iter().zip(&before).skip(first + 1);
            prop_assert!(younger.into_iter().all(|(after, before)| after.held == before.held), "the oldest first");
        }
    }
}
