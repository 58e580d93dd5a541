//! Tests the amounts that blocks hold and free, and the source of top-ups.

use cais_domain::block::{Block, BlockEnd, credited, debited, end, hold, top_up_blocks};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use cais_domain::money::Money;
use proptest::prelude::*;

use crate::book::{account, infraction_id, money};

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

/// Formats transfers as `from > to infraction amount`.
fn movements(transfers: &[Transfer]) -> Vec<String> {
    let place = |account: &LedgerAccount| match account {
        LedgerAccount::Merchant(_, bucket) => bucket.as_str().to_owned(),
        LedgerAccount::System(..) => account.holder(),
    };
    let line = |transfer: &Transfer| {
        let number = (0..10).find(|number| transfer.resource == Some(infraction_id(*number).to_string())).unwrap();
        assert_eq!(transfer.overdraft, Overdraft::Forbidden, "a block requires cover");
        format!("{} > {} {number} {}", place(&transfer.from), place(&transfer.to), transfer.amount)
    };
    transfers.iter().map(line).collect()
}

#[test]
fn top_up_fills_oldest_block_from_available_first() {
    let mut blocks = [block(1, 300, 100), block(2, 500, 500), block(3, 400, 0)];
    let swept = top_up_blocks(money(250), money(1_000), &mut blocks).unwrap();
    let expected = ["available > blocked 1 2.00", "available > blocked 3 0.50", "pending > blocked 3 3.50"];
    assert_eq!(movements(&swept), expected);
    assert!(swept.iter().all(|transfer| transfer.kind == EntryKind::Infraction));
    assert!(blocks.iter().all(|block| block.shortfall().unwrap().is_zero()));
    assert_eq!(top_up_blocks(money(250), money(250), &mut blocks).unwrap(), [], "no shortfall remains");
}

#[test]
fn lower_limit_frees_excess_and_higher_limit_moves_nothing() {
    let mut held = block(1, 300, 300);
    assert_eq!(hold(&mut held, money(500), money(70)).unwrap(), []);
    assert_eq!((held.limit, held.held), (money(500), money(300)));
    let freed = hold(&mut held, money(120), money(0)).unwrap();
    assert!(freed.iter().all(|transfer| transfer.kind == EntryKind::InfractionReleased));
    assert_eq!(movements(&freed), ["blocked > available 1 1.80"]);
    assert_eq!((held.limit, held.held), (money(120), money(120)));
}

#[test]
fn block_ends_in_full_and_empty_block_moves_nothing() {
    let settlement = LedgerAccount::System(
        SystemAccount::Settlement(cais_domain::acquirer_name::AcquirerName::parse("main").unwrap()),
        3,
    );
    let returned = BlockEnd::Returned(settlement.clone());
    let held = block(1, 300, 200);
    let back = end(&held, &returned, money(150)).unwrap();
    assert_eq!(
        movements(&back),
        [format!("blocked > {} 1 2.00", settlement.holder())],
        "also the part that was pending"
    );
    assert!(back.iter().all(|transfer| transfer.kind == EntryKind::InfractionReturned && transfer.to == settlement));
    let freed = end(&held, &BlockEnd::Released, money(0)).unwrap();
    assert_eq!(movements(&freed), ["blocked > available 1 2.00"]);
    assert!(freed.iter().all(|transfer| transfer.kind == EntryKind::InfractionReleased));
    for to in [BlockEnd::Released, returned] {
        assert_eq!(end(&block(1, 300, 0), &to, money(150)).unwrap(), []);
    }
}

#[test]
fn freed_money_returns_to_pending_as_far_as_seized() {
    let held = block(1, 300, 200);
    for (seized, expected) in [
        (1, vec!["blocked > pending 1 0.01", "blocked > available 1 1.99"]),
        (199, vec!["blocked > pending 1 1.99", "blocked > available 1 0.01"]),
        (200, vec!["blocked > pending 1 2.00"]),
        (201, vec!["blocked > pending 1 2.00"]),
    ] {
        let freed = end(&held, &BlockEnd::Released, money(seized)).unwrap();
        assert_eq!(movements(&freed), expected);
        assert_eq!(movements(&hold(&mut held.clone(), money(0), money(seized)).unwrap()), expected);
        let left = freed.iter().try_fold(money(seized), |seized, transfer| credited(transfer, seized)).unwrap();
        assert_eq!(left, money((seized - 200).max(0)), "freed money is not counted as seized");
    }
}

#[test]
fn debit_by_kind_changes_seized_or_amount() {
    let [available, pending] =
        [Bucket::Available, Bucket::Pending].map(|bucket| LedgerAccount::Merchant(account(), bucket));
    let kinds = [EntryKind::Charge, EntryKind::Release, EntryKind::Infraction, EntryKind::InfractionReleased];
    for (kind, overdraft) in
        kinds.into_iter().flat_map(|kind| [(kind, Overdraft::Forbidden), (kind, Overdraft::Allowed)])
    {
        for (from, to) in [(&pending, &available), (&available, &pending)] {
            let (from, to, amount) = (from.clone(), to.clone(), money(50));
            let waits = from == pending;
            let transfer = Transfer { from, to, amount, overdraft, kind, resource: None, end_to_end_id: None };
            let expected = match (waits, kind) {
                (true, EntryKind::Release) => (20, 0),
                (true, EntryKind::Infraction) => (50, 80),
                _ => (50, 30),
            };
            let (moved, seized) = debited(&transfer, money(30)).unwrap();
            assert_eq!((moved.centavos(), seized.centavos()), expected, "{transfer:?}");
            let given_back = !waits && kind == EntryKind::InfractionReleased;
            assert_eq!(credited(&transfer, money(49)).unwrap(), money(if given_back { 0 } else { 49 }), "{transfer:?}");
            assert_eq!(
                credited(&transfer, money(60)).unwrap(),
                money(if given_back { 10 } else { 60 }),
                "{transfer:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn freed_money_is_conserved_and_pending_as_far_as_seized(
        held in 0_i64..1_000,
        limit in 0_i64..1_500,
        seized in 0_i64..1_500,
        ends in any::<bool>(),
    ) {
        let mut one = block(1, held.max(1), held);
        let (freed, left) = if ends {
            (end(&one, &BlockEnd::Released, money(seized)).unwrap(), 0)
        } else {
            (hold(&mut one, money(limit), money(seized)).unwrap(), one.held.centavos())
        };
        let to = |bucket| {
            let of = |transfer: &&Transfer| transfer.to == LedgerAccount::Merchant(account(), bucket);
            Money::sum(freed.iter().filter(of).map(|transfer| transfer.amount)).unwrap().centavos()
        };
        let (waits, usable) = (to(Bucket::Pending), to(Bucket::Available));
        prop_assert_eq!(waits + usable, held - left, "money is conserved");
        prop_assert_eq!(waits, seized.min(held - left));
        prop_assert!(freed.iter().all(|transfer| transfer.amount.is_positive() && transfer.from == LedgerAccount::Merchant(account(), Bucket::Blocked)));
        let after = freed.iter().try_fold(money(seized), |seized, transfer| credited(transfer, seized)).unwrap();
        prop_assert_eq!(after, money(seized - waits));
    }

    #[test]
    fn top_up_moves_shortfall_or_whole_balance(
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
        let swept = top_up_blocks(money(available), money(pending), &mut blocks).unwrap();
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
