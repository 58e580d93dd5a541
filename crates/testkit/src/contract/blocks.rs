//! Blocks. The commit that opens a block also blocks the money, up to the block's limit. The end of the block returns all of
//! this money.

use cais_domain::block::{BlockChange, BlockEnd};
use cais_domain::ledger::{Bucket, EntryKind, Overdraft};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, CommitError, EntryFilter, PageRequest};

use super::Harness;
use super::dispute::{Dispute, blocks};
use super::harness::{after_s, hold, income, merchant, movement, not_covered};
use super::probe::refused_without_a_trace;
use crate::builders::{pending_charge, steps};

/// Available money is blocked first, then pending money. If both do not suffice, a shortfall remains.
pub async fn block_seizes_existing_money(h: &mut Harness) {
    for (limit, balances, held) in [
        (0, [300, 940, 0, 0], 0),
        (1, [299, 940, 1, 0], 1),
        (300, [0, 940, 300, 0], 300),
        (301, [0, 939, 301, 0], 301),
        (1_240, [0, 0, 1_240, 0], 1_240),
        (5_000, [0, 0, 1_240, 0], 1_240),
    ] {
        let account = h.account().await.id;
        h.fund(account, 300).await;
        h.paid_charge(pending_charge(account), 600).await;
        let dispute = Dispute::of(account);
        assert_eq!(dispute.read(h).await, None);
        h.commit_ok(dispute.hold(limit)).await;
        assert_eq!((dispute.read(h).await, h.balances(account).await), (Some((held, limit)), balances));
        let entries = h.audit().await;
        h.commit_ok(dispute.hold(limit)).await;
        assert_eq!((dispute.read(h).await, h.balances(account).await), (Some((held, limit)), balances));
        assert_eq!(h.audit().await, entries, "the same change set moves nothing again");
    }
}

/// A block affects only its own account, even if that account has no money.
pub async fn block_affects_its_own_account_only(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    h.fund(other, 1_000).await;
    let (dispute, foreign) = (Dispute::of(account), Dispute::of(other));
    h.commit_ok(dispute.hold(500)).await;
    assert_eq!(dispute.read(h).await, Some((0, 500)));
    assert_eq!(h.balances(account).await, [0; 4]);
    assert_eq!(h.balances(other).await, [1_000, 0, 0, 0]);
    h.fund(other, 1_000).await;
    h.commit_ok(foreign.hold(100)).await;
    assert_eq!(h.balances(other).await, [1_900, 0, 100, 0]);
    assert_eq!(dispute.read(h).await, Some((0, 500)));
}

/// A lower limit frees money; under-funded blocks of the account get this money first. A higher limit blocks more money.
pub async fn changed_limit_frees_or_seizes(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 1_000).await;
    let (older, younger) = (Dispute::of(account), Dispute::of(account));
    h.commit_ok(older.hold(800)).await;
    h.commit_ok(older.hold(300)).await;
    assert_eq!((older.read(h).await, h.balances(account).await), (Some((300, 300)), [700, 0, 300, 0]));
    h.commit_ok(older.hold(900)).await;
    assert_eq!((older.read(h).await, h.balances(account).await), (Some((900, 900)), [100, 0, 900, 0]));

    h.commit_ok(younger.hold(600)).await;
    assert_eq!(younger.read(h).await, Some((100, 600)));
    h.commit_ok(older.hold(700)).await;
    assert_eq!((older.read(h).await, younger.read(h).await), (Some((700, 700)), Some((300, 600))));
    assert_eq!(h.balances(account).await, [0, 0, 1_000, 0]);
    h.commit_ok(older.hold(0)).await;
    assert_eq!((older.read(h).await, younger.read(h).await), (Some((0, 0)), Some((600, 600))));
    assert_eq!(h.balances(account).await, [400, 0, 600, 0]);
    // A limit that is lowered, but stays above the blocked amount, frees no money.
    h.commit_ok(older.hold(5_000)).await;
    h.commit_ok(older.hold(1_000)).await;
    assert_eq!((older.read(h).await, younger.read(h).await), (Some((400, 1_000)), Some((600, 600))));
    assert_eq!(h.balances(account).await, [0, 0, 1_000, 0]);
}

/// The end frees the whole amount and removes the block. A second end is refused.
pub async fn ended_block_returns_all_money(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 500).await;
    let dispute = Dispute::of(account);
    h.commit_ok(dispute.hold(800)).await;
    h.commit_ok(dispute.release(500)).await;
    assert_eq!((dispute.read(h).await, h.balances(account).await), (None, [500, 0, 0, 0]));
    for held in [0, 500] {
        assert_eq!(h.commit(dispute.release(held)).await, Err(CommitError::Stale));
    }
    h.fund(account, 100).await;
    assert_eq!(h.balances(account).await, [600, 0, 0, 0], "an ended block takes no money");

    let nothing = Dispute::of(account);
    h.commit_ok(nothing.hold(0)).await;
    let entries = h.audit().await;
    h.commit_ok(nothing.release(0)).await;
    assert_eq!((nothing.read(h).await, h.audit().await), (None, entries));
}

/// Another block gets the freed money in the same commit.
pub async fn freed_money_goes_to_the_next_block(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 500).await;
    let [one, two, three] = [Dispute::of(account), Dispute::of(account), Dispute::of(account)];
    for dispute in [&two, &one, &three] {
        h.commit_ok(dispute.hold(400)).await;
    }
    let held = async || (one.read(h).await, two.read(h).await, three.read(h).await);
    assert_eq!(held().await, (Some((100, 400)), Some((400, 400)), Some((0, 400))), "no block loses money to another");
    h.commit_ok(two.release(400)).await;
    assert_eq!(held().await, (Some((400, 400)), None, Some((100, 400))));
    // In one change set, a block ends, another block gets a lower limit, and a new block begins.
    let four = Dispute::of(account);
    h.commit_ok(blocks(vec![one.release_change(400), three.hold_change(250), four.hold_change(300)])).await;
    assert_eq!(held().await, (None, None, Some((250, 250))));
    assert_eq!((four.read(h).await, h.balances(account).await), (Some((250, 300)), [0, 0, 500, 0]));
    h.commit_ok(four.release(250)).await;
    assert_eq!(h.balances(account).await, [250, 0, 250, 0]);
}

/// An end with an outdated amount is refused with its whole change set.
pub async fn block_end_with_outdated_amount_is_refused(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 500).await;
    let dispute = Dispute::of(account);
    h.commit_ok(dispute.hold(5_000)).await;
    let unknown = Dispute::of(account);
    let foreign = Dispute { account: h.account().await.id, ..dispute.clone() };
    let stale = [
        dispute.release_change(499),
        dispute.release_change(501),
        dispute.release_change(0),
        unknown.release_change(0),
    ];
    let other_way = BlockChange::End {
        account,
        infraction: dispute.infraction,
        held: Money::from_centavos(499),
        to: BlockEnd::Returned(income(account, 1).from),
    };
    let mut held = 500;
    for end in stale.into_iter().chain([foreign.release_change(0), other_way]) {
        let refused = refused_without_a_trace(h, account, |change| change.blocks.push(end));
        assert_eq!(refused.await, CommitError::Stale);
        // After the refusal, the helper commits its change set without the end. That credits 77 centavos, which are blocked.
        held += 77;
        assert_eq!(dispute.read(h).await, Some((held, 5_000)));
        assert_eq!(h.balances(account).await, [0, 0, held, 0]);
    }
    // Transfers apply first, but their credit is blocked only after the block changes. So the end's amount is still right.
    let own = ChangeSet { transfers: vec![income(account, 10)], ..dispute.release(held) };
    h.commit_ok(own).await;
    assert_eq!((dispute.read(h).await, h.balances(account).await), (None, [held + 10, 0, 0, 0]));
}

/// A change set that is refused for any reason blocks nothing. The cover of transfers is checked before the block changes.
pub async fn refused_change_set_blocks_nothing(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 500).await;
    let (dispute, late) = (Dispute::of(account), Dispute::of(account));
    let uncovered = ChangeSet { transfers: vec![hold(account, 501)], ..dispute.hold(200) };
    let refused = |centavos| Err(not_covered(account, Bucket::Available, centavos));
    assert_eq!(h.commit(uncovered).await, refused(500));
    let stale = blocks(vec![dispute.hold_change(200), late.release_change(0)]);
    assert_eq!(h.commit(stale).await, Err(CommitError::Stale));
    assert_eq!((dispute.read(h).await, h.balances(account).await), (None, [500, 0, 0, 0]));
    let less_than_nothing = h.commit(dispute.hold(-1)).await.unwrap_err();
    assert!(matches!(less_than_nothing, CommitError::Corrupt(_)), "{less_than_nothing:?}");

    // Transfers of the same change set move money before any money is blocked.
    let both = ChangeSet { transfers: vec![hold(account, 450)], ..dispute.hold(200) };
    h.commit_ok(both).await;
    assert_eq!((dispute.read(h).await, h.balances(account).await), (Some((50, 200)), [0, 0, 50, 450]));
    assert_eq!(h.commit(steps::transfer(hold(account, 1))).await, refused(0));
    // Freed money covers no transfer of the same change set.
    for end in [dispute.hold_change(0), dispute.release_change(50)] {
        let both = ChangeSet { transfers: vec![hold(account, 50)], ..blocks(vec![end]) };
        assert_eq!(h.commit(both).await, refused(0));
    }
    assert_eq!((dispute.read(h).await, h.balances(account).await), (Some((50, 200)), [0, 0, 50, 450]));
}

/// The statement shows the infraction of every blocked centavo, in both entries of each transfer.
pub async fn statement_explains_blocked_money(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 300).await;
    h.paid_charge(pending_charge(account), 600).await;
    let (one, two) = (Dispute::of(account), Dispute::of(account));
    h.commit_ok(ChangeSet { at: after_s(5), ..one.hold(500) }).await;
    h.commit_ok(ChangeSet { at: after_s(6), ..two.hold(100) }).await;
    h.commit_ok(ChangeSet { at: after_s(7), ..one.hold(450) }).await;
    h.commit_ok(ChangeSet { at: after_s(8), ..two.release(100) }).await;
    let (taken, freed) = (EntryKind::Infraction, EntryKind::InfractionReleased);
    let (available, pending, blocked) = (Bucket::Available, Bucket::Pending, Bucket::Blocked);
    let expected = [
        (&one, taken, available, -300, 0, 5),
        (&one, taken, blocked, 300, 300, 5),
        (&one, taken, pending, -200, 740, 5),
        (&one, taken, blocked, 200, 500, 5),
        (&two, taken, pending, -100, 640, 6),
        (&two, taken, blocked, 100, 600, 6),
        (&one, freed, blocked, -50, 550, 7),
        (&one, freed, pending, 50, 690, 7),
        (&two, freed, blocked, -100, 450, 8),
        (&two, freed, pending, 100, 790, 8),
    ];
    let page = PageRequest { limit: 200, starting_after: None };
    let lines = h.store.list_entries(account, EntryFilter::default(), page).await.unwrap().rows;
    let lines = lines.iter().rev().filter(|line| [taken, freed].contains(&line.kind)).map(|line| {
        let of = (line.resource.clone(), line.end_to_end_id.clone(), line.description.clone());
        let (amount, after) = (line.amount.centavos(), line.balance_after.centavos());
        (of, line.kind, line.bucket, amount, after, line.created_at)
    });
    let expected = expected.map(|(dispute, kind, bucket, amount, after, at_s)| {
        let of = (Some(dispute.infraction.to_string()), Some(dispute.end_to_end_id.clone()), None);
        (of, kind, bucket, amount, after, after_s(at_s))
    });
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}

/// The audit reports blocked money without a block, and a block without money.
pub async fn audit_compares_blocked_balance_with_blocks(h: &mut Harness) {
    let account = h.account().await.id;
    h.fund(account, 500).await;
    let dispute = Dispute::of(account);
    h.commit_ok(dispute.hold(200)).await;
    h.audit().await;
    let (blocked, available) = (merchant(account, Bucket::Blocked), merchant(account, Bucket::Available));
    for (from, to) in [(&available, &blocked), (&blocked, &available)] {
        let by_hand = |from, to| steps::transfer(movement(from, to, 7, Overdraft::Forbidden));
        h.commit_ok(by_hand(from.clone(), to.clone())).await;
        let report = h.store.verify_ledger().await.unwrap();
        let named = report.differences.iter().any(|one| one.what.contains(&account.to_string()));
        assert!(named, "{report:?}");
        h.commit_ok(by_hand(to.clone(), from.clone())).await;
        h.audit().await;
    }
}
