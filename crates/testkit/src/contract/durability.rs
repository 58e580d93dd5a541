//! Everything that was acknowledged exists after the store was closed and opened.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::event::EventType;
use cais_ports::{
    ApiKeyRecord, AttemptOutcome, Callback, DeliveredEvent, EventFilter, FinishedAttempt, Health, PollPosition,
    ReservationKey, Write,
};

use super::Harness;
use super::attempts::{attempt, claim_one, finish, put_one, read};
use super::dispute::Dispute;
use super::event_log::stored;
use super::harness::{after_s, walk_deliveries, walk_events};
use super::probe::Probe;
use crate::builders::{
    a_callback, a_key, a_payment, a_position, an_event, new_refund, pending_charge, queue_of, start, steps,
};

/// Records, idempotency records, unique values, money and the event counter persist.
pub async fn reopened_store_has_all_records(h: &mut Harness) {
    let account = h.account().await;
    let key = a_key(account.id);
    h.commit_ok(steps::add_key(&key)).await;
    let callback = a_callback();
    h.commit_ok(steps::receive(&callback)).await;
    let charge = h.pending_charge(account.id).await;
    let payment = a_payment(1_000);
    h.commit_ok(steps::confirm_payment(&charge, payment.clone(), after_s(1))).await;
    let paid = h.paid_charge(pending_charge(account.id), 60).await;
    let payout = h.held_payout(account.id).await;
    h.commit_ok(steps::send_payout(&payout, after_s(2))).await;
    let requested = new_refund(Some(100));
    h.commit_ok(steps::open_refund(&paid, &requested, after_s(2))).await;
    let (payout, refund) = (h.read_payout(&payout).await, h.read_refund(account.id, requested.id).await);
    let releases = h.store.list_due_releases(after_s(1_000), 50).await.unwrap();
    let (probe, change) = Probe::prepare(h, account.id).await;
    h.commit_ok(change).await;
    let entries = h.audit().await;

    for _ in 0..2 {
        h.reopen().await;
        h.store.ready().await.unwrap();
        probe.assert_present(h).await;
        assert_eq!(h.audit().await, entries);
        assert_eq!(h.balances(account.id).await, [917, 940, 0, 1_150]);
    }
    assert_eq!(h.read_payout(&payout).await, payout);
    assert_eq!(h.store.list_due_payouts(after_s(1_000), 50).await.unwrap(), [payout]);
    assert_eq!(h.read_refund(account.id, requested.id).await, refund);
    assert_eq!(h.store.list_due_releases(after_s(1_000), 50).await.unwrap(), releases);
    assert_eq!(releases.len(), 1);
    assert_eq!(h.store.find_account(account.id).await.unwrap(), Some(account.clone()));
    let found = h.store.find_key(&key.prefix).await.unwrap();
    assert_eq!(found, Some((ApiKeyRecord { version: 1, ..key }, account.clone())));
    let due = h.store.list_due_callbacks(after_s(1), 50).await.unwrap();
    assert_eq!(due, [Callback { version: 1, ..callback }]);
    let paid = h.store.find_charge(account.id, charge.id).await.unwrap().unwrap();
    assert_eq!((paid.state.status(), paid.version), (ChargeStatus::Paid, 2));
    let credited = ReservationKey::EndToEndId(payment.end_to_end_id.clone());
    assert!(h.store.find_owner(&credited).await.unwrap().is_some());

    let again = steps::confirm_payment(&paid, payment, after_s(2));
    assert!(h.commit(again).await.is_err(), "credited before it was closed");
    let next = Charge { version: 1, ..h.pending_charge(account.id).await };
    let confirmed = h.commit_ok(steps::confirm_payment(&next, a_payment(1_000), after_s(3))).await;
    assert_eq!(confirmed.sequences, [4]);
}

/// Endpoints, events, deliveries with their attempts, and claims persist.
pub async fn reopened_store_continues_deliveries(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    let event = an_event(account, EventType::ChargePaid, "chg_1");
    h.commit_ok(steps::publish(vec![event.clone()])).await;
    let claimed = claim_one(h, &endpoint, 1).await;
    let failed = attempt(&claimed, 2, AttemptOutcome::Retry { due_at: after_s(10) });
    finish(h, FinishedAttempt { health: Health::Failing, ..failed }).await;
    let test = put_one(h, &endpoint).await;
    let at_work = claim_one(h, &endpoint, 3).await;
    assert_eq!(at_work.key, test);
    let deliveries = walk_deliveries(&*h.store, account, endpoint.id).await;
    let events = walk_events(&*h.store, account, EventFilter::default(), 50).await;

    for _ in 0..2 {
        h.reopen().await;
        assert_eq!(walk_deliveries(&*h.store, account, endpoint.id).await, deliveries);
        assert_eq!(walk_events(&*h.store, account, EventFilter::default(), 50).await, events);
        assert_eq!(h.store.find_endpoint(account, endpoint.id).await.unwrap(), Some(endpoint.clone()));
        let due = h.store.due_queues(after_s(10), None, 50).await.unwrap();
        assert_eq!((due.due, due.backlog, due.oldest_due_at), (vec![queue_of(&endpoint)], 1, Some(after_s(10))));
    }
    let again = claim_one(h, &endpoint, 10).await;
    assert_eq!((again.key, again.fence, again.tries), (claimed.key, 2, 2));
    assert_eq!((again.failing_since, again.event), (Some(after_s(2)), DeliveredEvent::Stored(stored(&event, 1))));
    let done = finish(h, attempt(&at_work, 11, AttemptOutcome::Succeeded)).await;
    assert_eq!(done.attempts.len(), 1, "an attempt that began before the close is still stored");
    assert_eq!(read(h, test).await, done);
}

/// Blocks, shortfalls, and the amount seized from pending releases persist.
pub async fn reopened_store_keeps_its_blocks(h: &mut Harness) {
    let account = h.account().await.id;
    for delay_s in [100, 200] {
        h.paid_charge(pending_charge(account), delay_s).await;
    }
    let (full, lacking) = (Dispute::of(account), Dispute::of(account));
    h.commit_ok(full.hold(1_000)).await;
    let position = PollPosition { seen_until: after_s(7), ..a_position() };
    h.commit_ok(steps::write(Write::insert(position.clone()), start())).await;
    for _ in 0..2 {
        h.reopen().await;
        assert_eq!(full.read(h).await, Some((1_000, 1_000)));
        assert_eq!(h.balances(account).await, [0, 880, 1_000, 0]);
        let stored = h.store.find_position(&position.acquirer, position.list).await.unwrap();
        assert_eq!(stored, Some(PollPosition { version: 1, ..position.clone() }));
        h.audit().await;
    }
    let releases = h.store.list_due_releases(after_s(1_000), 50).await.unwrap();
    for (release, available) in releases.iter().zip([0, 880]) {
        h.commit_ok(steps::make_release(release, after_s(1_000))).await;
        assert_eq!(h.balances(account).await, [available, 880 - available, 1_000, 0]);
    }
    h.commit_ok(lacking.hold(2_000)).await;
    h.reopen().await;
    h.fund(account, 20).await;
    assert_eq!((lacking.read(h).await, h.balances(account).await), (Some((900, 2_000)), [0, 0, 1_900, 0]));
}
