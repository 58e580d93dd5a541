//! Money: a payment is credited once, cover is exact to the centavo, and transfers apply in their order.

use cais_domain::charge::ChargeStatus;
use cais_domain::ledger::{Bucket, Overdraft, SystemAccount};
use cais_domain::money::Money;
use cais_ports::{ChangeSet, CommitError, LedgerCheckResult, ReservationKey};

use super::Harness;
use super::harness::{after_s, hold, income, merchant, movement, not_covered};
use super::probe::refused_without_a_trace;
use crate::builders::{a_payment, main_acquirer, start, steps};

/// The part of the payment beyond the charge's amount is credited without a fee, and so is a second payment.
pub async fn payment_is_credited_less_its_fee(h: &mut Harness) {
    let account = h.account().await;
    let charge = h.pending_charge(account.id).await;
    let payment = a_payment(1_001);
    let confirm = steps::confirm_payment(&charge, payment.clone(), after_s(1));
    assert_eq!(h.commit_ok(confirm).await.sequences, [1, 2], "one event of the payment, one of the excess");
    assert_eq!(h.balances(account.id).await, [941, 0, 0, 0]);
    assert_eq!(h.audit().await, 6, "two entries for each of three transfers");
    let paid = h.store.find_charge(account.id, charge.id).await.unwrap().unwrap();
    assert_eq!((paid.state.status(), paid.version), (ChargeStatus::Paid, 2));
    let key = ReservationKey::EndToEndId(payment.end_to_end_id);
    let owner = h.store.find_owner(&key).await.unwrap();
    assert_eq!(owner, Some(charge.id.to_string()));

    let second = steps::confirm_payment(&paid, a_payment(5), after_s(2));
    assert_eq!(h.commit_ok(second).await.sequences, [3]);
    assert_eq!(h.balances(account.id).await, [946, 0, 0, 0]);
}

/// A second credit of the same Pix is refused, also if it is decided on the paid charge, or is for another charge.
pub async fn repeated_payment_is_credited_once(h: &mut Harness) {
    let account = h.account().await;
    let charge = h.pending_charge(account.id).await;
    let other = h.pending_charge(account.id).await;
    let payment = a_payment(1_000);
    h.commit_ok(steps::confirm_payment(&charge, payment.clone(), after_s(1))).await;
    let paid = h.store.find_charge(account.id, charge.id).await.unwrap().unwrap();
    for again in [charge.clone(), paid, other] {
        let refused = h.commit(steps::confirm_payment(&again, payment.clone(), after_s(2))).await;
        let expected = CommitError::Taken {
            key: ReservationKey::EndToEndId(payment.end_to_end_id.clone()),
            by: charge.id.to_string(),
        };
        assert_eq!(refused, Err(expected));
    }
    assert_eq!(h.balances(account.id).await, [940, 0, 0, 0]);
    assert_eq!(h.store.last_sequence(account.id).await.unwrap(), 1);
}

/// The last centavo may be spent, and no more.
pub async fn cover_is_exact_to_the_centavo(h: &mut Harness) {
    let account = h.account().await;
    let refused = |centavos| Err(not_covered(account.id, Bucket::Available, centavos));
    let one = steps::transfer(hold(account.id, 1));
    assert_eq!(h.commit(one.clone()).await, refused(0), "an account without a balance");
    h.fund(account.id, 1_000).await;
    let too_much = steps::transfer(hold(account.id, 1_001));
    assert_eq!(h.commit(too_much).await, refused(1_000));
    h.commit_ok(steps::transfer(hold(account.id, 1_000))).await;
    assert_eq!(h.commit(one).await, refused(0));
    assert_eq!(h.balances(account.id).await, [0, 0, 0, 1_000]);
}

/// A credit covers the later transfers of its change set, but not the earlier transfers.
pub async fn cover_is_checked_in_the_order_of_transfers(h: &mut Harness) {
    let account = h.account().await;
    let transfers = vec![income(account.id, 500), hold(account.id, 300), hold(account.id, 200)];
    let backwards = transfers.iter().rev().cloned().collect();
    let change = |transfers| ChangeSet { transfers, ..ChangeSet::new(start()) };
    let refused = h.commit(change(backwards)).await.unwrap_err();
    assert!(matches!(refused, CommitError::NotCovered { .. }), "{refused:?}");
    h.commit_ok(change(transfers)).await;
    assert_eq!(h.balances(account.id).await, [0, 0, 0, 500]);
    assert_eq!(h.audit().await, 6);
}

/// The change set has one defect, a transfer without cover. Nothing of the change set is stored.
pub async fn uncovered_money_leaves_nothing(h: &mut Harness) {
    let account = h.account().await;
    let refused = refused_without_a_trace(h, account.id, |change| {
        change.transfers.push(hold(account.id, 78));
    });
    assert_eq!(refused.await, not_covered(account.id, Bucket::Available, 0));
}

/// Money moves between buckets, and each bucket covers only its own transfers.
pub async fn buckets_cover_only_their_own_transfers(h: &mut Harness) {
    let account = h.account().await;
    h.fund(account.id, 1_000).await;
    let between = |from, to, centavos| {
        let (from, to) = (merchant(account.id, from), merchant(account.id, to));
        steps::transfer(movement(from, to, centavos, Overdraft::Forbidden))
    };
    h.commit_ok(between(Bucket::Available, Bucket::Pending, 400)).await;
    h.commit_ok(between(Bucket::Pending, Bucket::Blocked, 30)).await;
    h.commit_ok(between(Bucket::Blocked, Bucket::InTransit, 2)).await;
    assert_eq!(h.balances(account.id).await, [600, 370, 28, 2]);
    let refused = h.commit(between(Bucket::Blocked, Bucket::Available, 29)).await;
    assert_eq!(refused, Err(not_covered(account.id, Bucket::Blocked, 28)));
    let report = h.store.verify_ledger().await.unwrap();
    assert!(!report.differences.is_empty(), "pending money without a release, blocked money without a block");
    h.commit_ok(between(Bucket::Blocked, Bucket::Available, 28)).await;
    h.commit_ok(between(Bucket::Pending, Bucket::Available, 370)).await;
}

/// The transfer moves the greatest 64-bit amount.
pub async fn greatest_amount_moves(h: &mut Harness) {
    let account = h.account().await;
    h.fund(account.id, i64::MAX).await;
    assert_eq!(h.balances(account.id).await, [i64::MAX, 0, 0, 0]);
    h.commit_ok(steps::transfer(hold(account.id, i64::MAX))).await;
    assert_eq!(h.balances(account.id).await, [0, 0, 0, i64::MAX]);
}

/// A balance never overflows: the change set is refused, and the store continues to work.
pub async fn balance_out_of_range_is_refused(h: &mut Harness) {
    let account = h.account().await;
    h.fund(account.id, i64::MAX).await;
    let entries = h.audit().await;
    let refused = h.commit(steps::transfer(income(account.id, 1))).await.unwrap_err();
    assert_eq!(h.audit().await, entries);
    assert!(matches!(refused, CommitError::Corrupt(_)), "{refused:?}");
    assert_eq!(h.balances(account.id).await, [i64::MAX, 0, 0, 0]);
    h.commit_ok(steps::transfer(hold(account.id, 1))).await;
    for centavos in [0, -1] {
        let refused = h.commit(steps::transfer(hold(account.id, centavos))).await.unwrap_err();
        assert!(matches!(refused, CommitError::Corrupt(_)), "{refused:?}");
    }
}

/// A system account has one row per merchant. Its balance is the sum of these rows.
pub async fn system_balance_is_the_sum_of_its_rows(h: &mut Harness) {
    let fees = SystemAccount::Fees;
    let before = h.store.system_balance(&fees).await.unwrap().centavos();
    for _ in 0..3 {
        let account = h.account().await;
        let charge = h.pending_charge(account.id).await;
        h.commit_ok(steps::confirm_payment(&charge, a_payment(1_000), after_s(1))).await;
    }
    assert_eq!(h.store.system_balance(&fees).await.unwrap().centavos() - before, 3 * 60);
    let none = SystemAccount::Crypto(main_acquirer());
    assert_eq!(h.store.system_balance(&none).await.unwrap(), Money::ZERO);
}

/// The last ledger check is returned, whatever the order in which the results are stored.
pub async fn last_ledger_check_is_returned(h: &mut Harness) {
    assert_eq!(h.store.last_ledger_check().await.unwrap(), None);
    let at = |at_s, differences| LedgerCheckResult { at: after_s(at_s), differences };
    for (stored, last) in [
        (at(10, 0), at(10, 0)),
        (at(20, 3), at(20, 3)),
        (at(15, 1), at(20, 3)),
        (at(20, 0), at(20, 0)),
        (at(30, 2), at(30, 2)),
    ] {
        h.store.record_ledger_check(stored).await.unwrap();
        assert_eq!(h.store.last_ledger_check().await.unwrap(), Some(last));
    }
}
