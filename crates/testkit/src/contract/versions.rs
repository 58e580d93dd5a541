//! Records change only from the version that was read, and the checks of a commit run in a fixed order.

use cais_domain::charge::ChargeStatus;
use cais_domain::merchant::account::Account;
use cais_domain::release::Release;
use cais_ports::{AcquirerDrain, ChangeSet, CommitError, RecordKey, Write};

use super::Harness;
use super::audit::row;
use super::dispute::Dispute;
use super::harness::{commit_concurrently, hold};
use super::probe::{refused_without_a_trace, take};
use crate::builders::{
    a_callback, a_key, a_payment, a_payout, a_position, a_refund, a_release, an_account, an_infraction, in_status,
    pending_charge, start, steps,
};

/// The checks run in this order: idempotency record, reservations, versions, cover (enough money for the transfers), blocks. The first
/// failure is returned.
pub async fn checks_come_in_the_documented_order(h: &mut Harness) {
    let account = h.account().await;
    let charge = h.pending_charge(account.id).await;
    h.commit_ok(take(account.id, "the-order-of-checks", "chg_1")).await;
    let mut stale = in_status(charge.clone(), ChargeStatus::Paid);
    stale.version = 9;
    let all_wrong = ChangeSet {
        reserve: steps::open_charge(&charge).reserve,
        writes: vec![Write::update(stale)],
        transfers: vec![hold(account.id, 1)],
        blocks: vec![Dispute::of(account.id).release_change(0)],
        ..take(account.id, "the-order-of-checks", "chg_2")
    };
    let refusal = h.commit(all_wrong.clone()).await.unwrap_err();
    assert!(matches!(refusal, CommitError::KeyInUse { .. }), "{refusal:?}");
    let key_right = ChangeSet { idempotency: None, ..all_wrong };
    let refusal = h.commit(key_right.clone()).await.unwrap_err();
    assert!(matches!(refusal, CommitError::Taken { .. }), "{refusal:?}");
    let reserve_right = ChangeSet { reserve: Vec::new(), ..key_right };
    assert_eq!(h.commit(reserve_right.clone()).await, Err(CommitError::Stale));
    let versions_right = ChangeSet { writes: Vec::new(), ..reserve_right };
    let refusal = h.commit(versions_right.clone()).await.unwrap_err();
    assert!(matches!(refusal, CommitError::NotCovered { .. }), "{refusal:?}");
    let cover_right = ChangeSet { transfers: Vec::new(), ..versions_right };
    assert_eq!(h.commit(cover_right.clone()).await, Err(CommitError::Stale));
    h.commit_ok(ChangeSet { blocks: Vec::new(), ..cover_right }).await;
}

/// Updates from an older version, and from one that never existed, are refused.
pub async fn stale_change_leaves_nothing(h: &mut Harness) {
    let account = h.account().await;
    let charge = h.pending_charge(account.id).await;
    for version in [0, 2, i64::MAX] {
        let mut stale = in_status(charge.clone(), ChargeStatus::Cancelled);
        stale.version = version;
        let refused = refused_without_a_trace(h, account.id, |change| {
            change.writes.push(Write::update(stale));
        });
        assert_eq!(refused.await, CommitError::Stale);
    }
    let stored = h.store.find_charge(account.id, charge.id).await.unwrap();
    assert_eq!(stored, Some(charge));
}

/// An update from any version but the stored one is refused. The SQL of all types of records is generated from one list,
/// `cais_ports::records`. So the test needs only one type for each form of key.
pub async fn records_of_every_kind_are_guarded(h: &mut Harness) {
    let mut account = h.account().await;
    let (mut key, mut callback) = (a_key(account.id), a_callback());
    h.commit_ok(steps::add_key(&key)).await;
    h.commit_ok(steps::receive(&callback)).await;
    let mut payout = h.payout(a_payout(account.id)).await;
    let mut refund = h.refund(a_refund(&pending_charge(account.id))).await;
    // This release has already happened, so that no money waits in `pending`.
    let mut release = Release { released_at: Some(start()), ..a_release(account.id, 100, start()) };
    h.commit_ok(steps::write(Write::insert(release.clone()), start())).await;
    let mut endpoint = h.endpoint(account.id, 0).await;
    let mut infraction = an_infraction(&pending_charge(account.id), 100);
    let mut position = a_position();
    let mut drain = AcquirerDrain { acquirer: position.acquirer.clone(), since: Some(start()), version: 0 };
    let insert = Write::insert(infraction.clone());
    h.commit_ok(steps::write(insert, start())).await;
    h.commit_ok(steps::write(Write::insert(position.clone()), start())).await;
    h.commit_ok(steps::write(Write::insert(drain.clone()), start())).await;
    for (version, good) in [(0, false), (1, true), (1, false), (2, true)] {
        account.version = version;
        key.version = version;
        callback.version = version;
        payout.version = version;
        refund.version = version;
        release.version = version;
        endpoint.version = version;
        infraction.version = version;
        position.version = version;
        drain.version = version;
        let writes = [
            Write::update(account.clone()),
            Write::update(key.clone()),
            Write::update(callback.clone()),
            Write::update(payout.clone()),
            Write::update(refund.clone()),
            Write::update(release.clone()),
            Write::update(endpoint.clone()),
            Write::update(infraction.clone()),
            Write::update(position.clone()),
            Write::update(drain.clone()),
        ];
        for write in writes {
            let outcome = h.commit(steps::write(write.clone(), start())).await;
            let expected = if good { Ok(()) } else { Err(CommitError::Stale) };
            assert_eq!(outcome.map(drop), expected, "{write:?}");
        }
    }
}

/// The second insert of a record is refused with `Exists`. A record that never changes has no version. So if a later commit
/// inserts it again, the store may return `Corrupt` instead.
pub async fn record_is_inserted_once(h: &mut Harness) {
    let charge = h.pending_charge(h.account().await.id).await;
    let paid = steps::confirm_payment(&charge, a_payment(1_000), start());
    let released = Release { released_at: Some(start()), ..a_release(charge.account, 100, start()) };
    let account = Account { id: charge.account, version: 1, ..an_account() };
    let audited = steps::write(Write::insert(row(&account, "ana", "account.fees")), start());
    for change in [paid, steps::write(Write::insert(released), start()), audited] {
        let insert = change.writes.iter().find(|write| matches!(write, Write::Insert(_))).unwrap().clone();
        let twice = ChangeSet { writes: vec![insert.clone(), insert.clone()], ..ChangeSet::new(start()) };
        assert_eq!(h.commit(twice).await.unwrap_err(), CommitError::Exists(insert.key()));
        h.commit_ok(change).await;
        let refused = h.commit(steps::write(insert.clone(), start())).await.unwrap_err();
        let may_be_corrupt = matches!(insert.key(), RecordKey::Payment { .. } | RecordKey::Audit { .. });
        let is_corrupt = may_be_corrupt && matches!(refused, CommitError::Corrupt(_));
        assert!(is_corrupt || refused == CommitError::Exists(insert.key()), "{insert:?}: {refused:?}");
    }
}

/// The store may combine concurrent updates of one record into one transaction. Exactly one of them succeeds.
pub async fn second_update_in_a_batch_is_stale(h: &mut Harness) {
    let account = h.account().await;
    for _ in 0..16 {
        let charge = h.pending_charge(account.id).await;
        let changes = [ChargeStatus::Cancelled, ChargeStatus::Expired].repeat(8);
        let changes: Vec<_> = changes
            .into_iter()
            .map(|status| steps::update_charge(&in_status(charge.clone(), status), start()))
            .collect();
        let outcomes = commit_concurrently(&h.store, changes.clone()).await;
        let mut winners = outcomes.iter().zip(&changes).filter(|(outcome, _)| outcome.is_ok());
        let (_, winner) = winners.next().unwrap();
        assert!(winners.next().is_none(), "{outcomes:?}");
        let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
        assert!(refused.clone().all(|error| *error == CommitError::Stale), "{outcomes:?}");
        let stored = h.store.find_charge(account.id, charge.id).await.unwrap().unwrap();
        assert_eq!(stored.version, 2);
        let written = steps::update_charge(&cais_domain::charge::Charge { version: 1, ..stored }, start());
        assert_eq!(&written, winner);
    }
}
