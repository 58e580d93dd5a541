//! Top-ups: the commit of a credit also blocks its money for the under-funded blocks of the account, the oldest infraction first.

use cais_domain::charge::Charge;
use cais_domain::ids::AccountId;
use cais_domain::ledger::Bucket;
use cais_domain::release::Release;
use cais_ports::ChangeSet;
use jiff::Timestamp;

use super::Harness;
use super::dispute::{Dispute, blocks};
use super::harness::{after_s, hold, income, merchant, movement};
use crate::builders::{a_payment, a_return_id, a_split, an_end_to_end_id, new_refund, pending_charge, steps};

/// A limit of a block in centavos. No account ever has so much, so the block is never filled.
const TOO_MUCH: i64 = 1_000_000;

/// Payments of charges, failed payouts, returns of payouts and failed refunds top up blocks.
pub async fn credits_of_every_kind_top_up_blocks(h: &mut Harness) {
    // A paid charge without and with a delay, an overpayment, and an underpayment.
    for (delay_s, centavos, expected) in [(0, 1_000, 940), (600, 1_000, 940), (0, 1_007, 947), (600, 900, 900)] {
        let account = h.account().await.id;
        let (charge, dispute) = (h.pending_charge(account).await, open(h, account).await);
        h.commit_ok(steps::credit_payment(&charge, a_payment(centavos), delay_s, after_s(1))).await;
        assert_all_held(h, &dispute, expected).await;
    }
    let account = h.account().await.id;
    let [failed, completed] = [h.held_payout(account).await, h.held_payout(account).await];
    h.commit_ok(steps::complete_payout(&completed, an_end_to_end_id(), after_s(1))).await;
    let completed = h.read_payout(&completed).await;
    let dispute = open(h, account).await;
    h.commit_ok(steps::fail_payout(&failed, after_s(2))).await;
    assert_all_held(h, &dispute, 1_050).await;
    h.commit_ok(steps::credit_return(&completed, 300, a_return_id(), after_s(3))).await;
    assert_all_held(h, &dispute, 1_350).await;

    let account = h.account().await.id;
    let paid = h.paid_charge(pending_charge(account), 0).await;
    let requested = new_refund(Some(400));
    h.commit_ok(steps::open_refund(&paid, &requested, after_s(2))).await;
    let (paid, refund) = (h.read_charge(&paid).await, h.read_refund(account, requested.id).await);
    let dispute = open(h, account).await;
    assert_all_held_of(h, &dispute, 540, 400).await;
    h.commit_ok(steps::fail_refund(&refund, &paid, after_s(3))).await;
    assert_all_held(h, &dispute, 940).await;
}

/// A beneficiary's part of another account's charge tops up the beneficiary's blocks, never those of the charge's creator.
pub async fn shares_top_up_blocks_of_their_receiver_only(h: &mut Harness) {
    let [creator, receiver, other] = [h.account().await.id, h.account().await.id, h.account().await.id];
    let mut charge = pending_charge(creator);
    charge.terms.split = a_split(&[(receiver, "50"), (other, "10")]);
    let charge = h.charge(charge).await;
    let (of_creator, of_receiver) = (open(h, creator).await, open(h, receiver).await);
    h.commit_ok(steps::credit_payment(&charge, a_payment(1_000), 600, after_s(1))).await;
    assert_all_held(h, &of_creator, 376).await;
    assert_all_held(h, &of_receiver, 470).await;
    assert_eq!(h.balances(other).await, [94, 0, 0, 0]);
}

/// The oldest infraction is topped up first, in whatever order the blocks were created. If a credit exceeds the missing amount, the rest
/// tops up the next block.
pub async fn oldest_infraction_is_topped_up_first(h: &mut Harness) {
    let account = h.account().await.id;
    let [one, two, three] = [Dispute::of(account), Dispute::of(account), Dispute::of(account)];
    h.commit_ok(blocks(vec![three.hold_change(30), one.hold_change(100)])).await;
    h.commit_ok(two.hold(50)).await;
    for (centavos, expected, available) in [
        (60, [60, 0, 0], 0),
        (39, [99, 0, 0], 0),
        (2, [100, 1, 0], 0),
        (60, [100, 50, 11], 0),
        (18, [100, 50, 29], 0),
        (5, [100, 50, 30], 4),
        (7, [100, 50, 30], 11),
    ] {
        h.fund(account, centavos).await;
        let mut held = Vec::new();
        for dispute in [&one, &two, &three] {
            held.push(dispute.read(h).await.unwrap().0);
        }
        assert_eq!(held, expected);
        assert_eq!(h.balances(account).await, [available, 0, expected.iter().sum(), 0]);
    }
}

/// A change set has several credits and a debit. Only the money that is left after all transfers is blocked.
pub async fn change_set_tops_up_blocks_once_at_its_end(h: &mut Harness) {
    let account = h.account().await.id;
    let dispute = open(h, account).await;
    let transfers = vec![income(account, 100), hold(account, 70), income(account, 5)];
    h.commit_ok(ChangeSet { transfers, ..ChangeSet::new(after_s(1)) }).await;
    assert_all_held_of(h, &dispute, 35, 70).await;
    assert_eq!(h.audit().await, 6 + 2);
    let away =
        movement(merchant(account, Bucket::InTransit), income(account, 1).from, 70, income(account, 1).overdraft);
    h.commit_ok(steps::transfer(away)).await;
    assert_all_held(h, &dispute, 35).await;
}

/// Seized money reduces the earliest releases: they move less, or nothing. Later releases move their whole amount.
pub async fn seized_pending_money_is_not_released(h: &mut Harness) {
    let account = h.account().await.id;
    for delay_s in [100, 200, 300] {
        h.paid_charge(pending_charge(account), delay_s).await;
    }
    let dispute = Dispute::of(account);
    h.commit_ok(dispute.hold(1_500)).await;
    assert_eq!(h.balances(account).await, [0, 3 * 940 - 1_500, 1_500, 0]);
    h.paid_charge(pending_charge(account), 400).await;
    assert_eq!(h.balances(account).await, [0, 4 * 940 - 1_500, 1_500, 0], "no block lacks money");
    let releases = due(h, after_s(1_000)).await;
    assert_eq!(releases.len(), 4);
    let pending = 4 * 940 - 1_500;
    for (release, (moved, entries)) in releases.iter().zip([(0, 0), (380, 2), (940, 2), (940, 2)]) {
        let [available, waits, blocked, _] = h.balances(account).await;
        let before = h.audit().await;
        h.commit_ok(steps::make_release(release, after_s(1_000))).await;
        assert_eq!(h.balances(account).await, [available + moved, waits - moved, blocked, 0]);
        assert_eq!(h.audit().await, before + entries, "a release without money writes no entry");
        assert!(!due(h, after_s(1_000)).await.contains(release), "the release is done although no money moves");
    }
    assert_eq!(h.balances(account).await, [pending, 0, 1_500, 0]);
    h.commit_ok(dispute.release(1_500)).await;
    assert_eq!(h.balances(account).await, [pending + 1_500, 0, 0, 0]);
}

/// Money that is freed before its release is pending again; money that is freed afterwards is available at once.
pub async fn freed_pending_money_is_pending_again(h: &mut Harness) {
    let account = h.account().await.id;
    h.paid_charge(pending_charge(account), 100).await;
    let [one, two] = [Dispute::of(account), Dispute::of(account)];
    h.commit_ok(one.hold(500)).await;
    h.commit_ok(one.release(500)).await;
    assert_eq!(h.balances(account).await, [0, 940, 0, 0]);
    h.fund(account, 50).await;
    h.commit_ok(one.hold(590)).await;
    h.commit_ok(two.hold(300)).await;
    assert_eq!(h.balances(account).await, [0, 100, 890, 0], "available money is blocked before pending money");
    h.commit_ok(one.hold(540)).await;
    assert_eq!(h.balances(account).await, [0, 150, 840, 0], "money that a lower limit frees is pending again, too");
    h.audit().await;
    // Whichever block ends first: freed money is pending again, up to the amount that was seized from pending money.
    h.commit_ok(two.release(300)).await;
    assert_eq!(h.balances(account).await, [0, 450, 540, 0]);
    let release = due(h, after_s(101)).await.remove(0);
    h.commit_ok(steps::make_release(&release, after_s(101))).await;
    assert_eq!(h.balances(account).await, [450, 0, 540, 0]);
    h.audit().await;
    h.commit_ok(one.release(540)).await;
    assert_eq!(h.balances(account).await, [990, 0, 0, 0], "the money was still blocked when its release was made");
    h.audit().await;
}

/// Freed money waits for the remaining releases, each at its own time, even if one change set frees several blocks.
pub async fn freed_pending_money_is_released_in_time(h: &mut Harness) {
    let account = h.account().await.id;
    for delay_s in [100, 200] {
        h.paid_charge(pending_charge(account), delay_s).await;
    }
    h.fund(account, 10).await;
    let [one, two] = [Dispute::of(account), Dispute::of(account)];
    h.commit_ok(blocks(vec![one.hold_change(1_000), two.hold_change(600)])).await;
    assert_eq!(h.balances(account).await, [0, 290, 1_600, 0]);
    let mut releases = due(h, after_s(1_000)).await;
    let (second, first) = (releases.remove(1), releases.remove(0));
    // The money of the first release was seized completely, so nothing moves. Afterwards its amount does not count as seized any more.
    h.commit_ok(steps::make_release(&first, after_s(101))).await;
    assert_eq!(h.balances(account).await, [0, 290, 1_600, 0]);
    h.commit_ok(blocks(vec![two.release_change(600), one.release_change(1_000)])).await;
    assert_eq!(h.balances(account).await, [950, 940, 0, 0]);
    h.commit_ok(steps::make_release(&second, after_s(201))).await;
    assert_eq!(h.balances(account).await, [1_890, 0, 0, 0]);
    h.audit().await;
    // Pending money that the end of a block frees can top up another block in the same commit.
    h.paid_charge(pending_charge(account), 300).await;
    let [three, four] = [Dispute::of(account), Dispute::of(account)];
    h.commit_ok(three.hold(2_830)).await;
    h.commit_ok(four.hold(500)).await;
    h.commit_ok(three.release(2_830)).await;
    assert_eq!((four.read(h).await, h.balances(account).await), (Some((500, 500)), [1_390, 940, 500, 0]));
    h.audit().await;
}

/// A credit tops up a block in the same commit as a release whose money the block has already seized.
pub async fn shortfall_outlives_releases(h: &mut Harness) {
    let account = h.account().await.id;
    let first = h.pending_charge(account).await;
    let dispute = open(h, account).await;
    for (round, delay_s) in [(1, 100), (2, 50)] {
        let charge: Charge = if round == 1 { first.clone() } else { h.pending_charge(account).await };
        h.commit_ok(steps::credit_payment(&charge, a_payment(1_000), delay_s, after_s(1))).await;
        assert_all_held(h, &dispute, 940 * round).await;
    }
    for release in due(h, after_s(1_000)).await {
        let credit = vec![income(account, 10)];
        let mut change = steps::make_release(&release, after_s(1_000));
        change.transfers.extend(credit);
        h.commit_ok(change).await;
    }
    assert_all_held(h, &dispute, 2 * 940 + 20).await;
    assert_eq!(due(h, after_s(1_000)).await, []);
    h.commit_ok(dispute.release(2 * 940 + 20)).await;
    assert_eq!(h.balances(account).await, [2 * 940 + 20, 0, 0, 0]);
}

/// Opens a block of more than the account will ever have.
async fn open(h: &Harness, account: AccountId) -> Dispute {
    let dispute = Dispute::of(account);
    h.commit_ok(dispute.hold(TOO_MUCH)).await;
    dispute
}

/// Asserts that the block holds the amount `held`, and that the account has no other money.
async fn assert_all_held(h: &Harness, dispute: &Dispute, held: i64) {
    assert_all_held_of(h, dispute, held, 0).await;
}

async fn assert_all_held_of(h: &Harness, dispute: &Dispute, held: i64, in_transit: i64) {
    assert_eq!(dispute.read(h).await, Some((held, TOO_MUCH)));
    assert_eq!(h.balances(dispute.account).await, [0, 0, held, in_transit]);
}

/// Returns the releases that are due at `now`, of all accounts.
async fn due(h: &Harness, now: Timestamp) -> Vec<Release> {
    h.store.list_due_releases(now, 50).await.unwrap()
}
