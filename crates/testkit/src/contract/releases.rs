//! Pending money: listed when it is due, released exactly once.

use cais_domain::ledger::{Bucket, Overdraft, Transfer};
use cais_domain::money::Money;
use cais_domain::release::Release;
use cais_ports::{ChangeSet, CommitError, ReservationKey, Write};
use jiff::Timestamp;

use super::Harness;
use super::harness::{after_s, commit_concurrently, count_accepted, income, merchant, movement, not_covered};
use super::probe::refused_without_a_trace;
use crate::builders::{a_payment, a_release, pending_charge, start, steps};

/// The number of concurrent commits.
const CALLERS: usize = 64;

/// Releases of one centavo and of nearly the greatest 64-bit amount, due very early and very late, are read back as written.
pub async fn releases_come_back(h: &mut Harness) {
    let account = h.account().await.id;
    let late: Timestamp = "9999-12-01T23:59:59.999999Z".parse().unwrap();
    let early = Timestamp::from_microsecond(1).unwrap();
    let releases = [(i64::MAX - 78, early), (1, after_s(1)), (77, late)];
    let releases = releases.map(|(centavos, due_at)| a_release(account, centavos, due_at));
    for release in &releases {
        h.commit_ok(insert(release)).await;
    }
    let due = h.store.list_due_releases(late, 50).await.unwrap();
    let expected = releases.map(|release| Release { version: 1, ..release });
    assert_eq!(due, expected);
}

/// The list has due releases of all accounts, at most `limit` of them. Completed releases are not listed.
pub async fn due_releases_come_longest_overdue_first(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let mut waiting = Vec::new();
    for (due_s, account) in [40, 10, 30, 50, 20].into_iter().zip(accounts.into_iter().cycle()) {
        let release = a_release(account, 100, after_s(due_s));
        h.commit_ok(insert(&release)).await;
        let made = Release { released_at: Some(after_s(due_s)), ..a_release(account, 100, after_s(due_s)) };
        h.commit_ok(steps::write(Write::insert(made), start())).await;
        waiting.push((due_s, Release { version: 1, ..release }));
    }
    waiting.sort_unstable_by_key(|(due_s, _)| *due_s);
    let waiting: Vec<Release> = waiting.into_iter().map(|(_, release)| release).collect();
    for (now_s, limit, expected) in [(9, 50, 0), (10, 50, 1), (45, 50, 4), (45, 2, 2), (1_000, 50, 5)] {
        let due = h.store.list_due_releases(after_s(now_s), limit).await.unwrap();
        assert!(due.iter().eq(waiting.iter().take(expected)), "after {now_s} s, at most {limit}");
    }
    let first = waiting.first().unwrap();
    h.commit_ok(steps::make_release(first, after_s(60))).await;
    let due = h.store.list_due_releases(after_s(1_000), 50).await.unwrap();
    assert!(due.iter().eq(waiting.iter().skip(1)));
}

/// The creator's part of the charge and the excess of the payment are pending until the release. Without a delay no money is pending.
pub async fn delayed_payment_is_pending_until_its_release(h: &mut Harness) {
    let account = h.account().await.id;
    let charge = h.pending_charge(account).await;
    let payment = a_payment(1_005);
    let credit = steps::credit_payment(&charge, payment.clone(), 600, after_s(1));
    h.commit_ok(credit.clone()).await;
    assert_eq!(h.balances(account).await, [0, 945, 0, 0]);
    let taken = CommitError::Taken {
        key: ReservationKey::EndToEndId(payment.end_to_end_id.clone()),
        by: charge.id.to_string(),
    };
    assert_eq!(h.commit(credit).await, Err(taken));
    h.paid_charge(pending_charge(account), 0).await;
    assert_eq!(h.balances(account).await, [940, 945, 0, 0]);

    assert_eq!(h.store.list_due_releases(after_s(600), 50).await.unwrap(), []);
    let due = h.store.list_due_releases(after_s(601), 50).await.unwrap();
    let expected = Release {
        account,
        end_to_end_id: payment.end_to_end_id,
        charge: charge.id,
        amount: Money::from_centavos(945),
        due_at: after_s(601),
        released_at: None,
        version: 1,
    };
    assert_eq!(due, [expected]);
    let release = due.first().unwrap();
    h.commit_ok(steps::make_release(release, after_s(601))).await;
    assert_eq!(h.balances(account).await, [1_885, 0, 0, 0]);
    assert_eq!(h.store.list_due_releases(after_s(100_000), 50).await.unwrap(), []);
}

/// If many nodes find the same due release, exactly one of them makes it.
pub async fn release_is_made_once(h: &mut Harness) {
    let account = h.account().await.id;
    for _ in 0..4 {
        h.paid_charge(pending_charge(account), 60).await;
    }
    for round in 1..=4 {
        let due = h.store.list_due_releases(after_s(1_000), 50).await.unwrap();
        let first = due.first().unwrap();
        let outcomes = commit_concurrently(&h.store, vec![steps::make_release(first, after_s(1_000)); CALLERS]).await;
        assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
        assert_eq!(h.balances(account).await, [940 * round, 940 * (4 - round), 0, 0]);
        let again = h.commit(steps::make_release(first, after_s(1_001))).await;
        assert_eq!(again, Err(CommitError::Stale));
    }
    assert_eq!(h.store.list_due_releases(after_s(1_000), 50).await.unwrap(), []);
}

/// A release is refused if its version is not the stored one, if it was never stored, or if the pending money does not cover it.
pub async fn refused_release_leaves_nothing(h: &mut Harness) {
    let account = h.account().await.id;
    h.paid_charge(pending_charge(account), 60).await;
    let due = h.store.list_due_releases(after_s(100), 50).await.unwrap();
    let release = due.first().unwrap();
    for version in [0, 2, i64::MAX] {
        let stale = Release { version, released_at: Some(start()), ..release.clone() };
        let refused = refused_without_a_trace(h, account, |change| {
            change.writes.push(Write::update(stale));
        });
        assert_eq!(refused.await, CommitError::Stale);
    }
    let never = Release { version: 1, ..a_release(account, 5, after_s(1)) };
    let refused = h.commit(steps::write(Write::update(never), start())).await;
    assert_eq!(refused, Err(CommitError::Stale));

    let (pending, away) = (merchant(account, Bucket::Pending), merchant(account, Bucket::InTransit));
    h.commit_ok(steps::transfer(movement(pending.clone(), away.clone(), 1, Overdraft::Forbidden))).await;
    let refused = h.commit(steps::make_release(release, after_s(100))).await;
    assert_eq!(refused, Err(not_covered(account, Bucket::Pending, 939)));
    assert_eq!(h.store.list_due_releases(after_s(100), 50).await.unwrap(), due);
    h.commit_ok(steps::transfer(movement(away, pending, 1, Overdraft::Forbidden))).await;
}

/// Returns the change set that stores the release and its pending money.
fn insert(release: &Release) -> ChangeSet {
    let pending = merchant(release.account, Bucket::Pending);
    let waits = Transfer { to: pending, ..income(release.account, release.amount.centavos()) };
    ChangeSet { transfers: vec![waits], ..steps::write(Write::insert(release.clone()), start()) }
}
