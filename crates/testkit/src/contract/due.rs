//! Lists of due work: the longest overdue first, and never more rows than the limit. Finished work disappears.

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::ids::{CallbackId, ChargeId};
use cais_ports::{
    Callback, CallbackState, ChangeSet, IdempotencyChange, NewIdempotencyRecord, PruneBefore, ResponseKind, Write,
};

use super::Harness;
use super::harness::after_s;
use super::probe::take;
use crate::builders::{a_callback, in_status, pending_charge, start, steps};

/// Due times, in seconds, in an order that no list returns.
const DUE_S: [i64; 5] = [40, 10, 30, 50, 20];

/// The cases of the lists of due work, each with five items: (instant in seconds, limit, skipped, expected). In the order
/// of the due times, the first `skipped` items are not in the list, and the next `expected` items are.
///
/// In the last four cases the due times are far ahead of the instant. If a due time is further ahead than the longest pause
/// (300 s) plus the permitted difference of clocks (30 s), the item is due at once, because only a wrong clock can have
/// written the due time ([`cais_ports::Due`]).
pub(super) const AT_S: [(i64, u32, usize, usize); 9] = [
    (9, 50, 0, 0),
    (10, 50, 0, 1),
    (45, 50, 0, 4),
    (45, 2, 0, 2),
    (1_000, 50, 0, 5),
    (-280, 50, 5, 0),
    (-301, 50, 2, 3),
    (-10_000, 50, 0, 5),
    (-10_000, 2, 0, 2),
];

/// The list has idempotency records without a stored response whose lease has expired.
pub async fn due_records_come_longest_overdue_first(h: &mut Harness) {
    let account = h.account().await.id;
    for due_s in DUE_S {
        let name = steps::idempotency_ref(account, &format!("due-after-{due_s}"));
        let record = NewIdempotencyRecord {
            lease_until: after_s(due_s),
            ..steps::new_idempotency_record(name, &due_s.to_string(), start())
        };
        h.commit_ok(with_idempotency(IdempotencyChange::Take(record))).await;
    }
    let answered = IdempotencyChange::Answer {
        name: steps::idempotency_ref(account, "due-after-20"),
        fence: 1,
        answer: steps::answer(ResponseKind::Created, b"{}"),
    };
    h.commit_ok(with_idempotency(answered)).await;
    for (now_s, limit, expected) in [
        (9, 50, vec![]),
        (45, 50, vec!["10", "30", "40"]),
        (45, 2, vec!["10", "30"]),
        (1_000, 50, vec!["10", "30", "40", "50"]),
        // A lease that ends more than 330 s ahead counts as expired, because no correct clock can have written it.
        (-311, 50, vec!["30", "40", "50"]),
        (-321, 2, vec!["10", "30"]),
        (-275, 50, vec![]),
        (30, 50, vec!["10", "30"]),
    ] {
        let due = h.store.list_due_idempotency_records(after_s(now_s), limit).await.unwrap();
        let due: Vec<_> = due.iter().map(|record| record.resource.as_str()).collect();
        assert_eq!(due, expected, "after {now_s} s, at most {limit}");
    }
}

/// The list has waiting callbacks.
pub async fn due_callbacks_come_longest_overdue_first(h: &mut Harness) {
    let mut ids = Vec::new();
    for due_s in DUE_S {
        let callback = Callback { due_at: Some(after_s(due_s)), ..a_callback() };
        h.commit_ok(steps::receive(&callback)).await;
        ids.push((due_s, callback.id));
    }
    for state in [CallbackState::Done, CallbackState::Unmatched] {
        h.commit_ok(steps::receive(&Callback { state, due_at: None, ..a_callback() })).await;
    }
    ids.sort_unstable();
    let ids: Vec<CallbackId> = ids.into_iter().map(|(_, id)| id).collect();
    for (now_s, limit, skipped, expected) in AT_S {
        let due = h.store.list_due_callbacks(after_s(now_s), limit).await.unwrap();
        let due = due.iter().map(|callback| callback.id);
        assert!(due.eq(ids.iter().copied().skip(skipped).take(expected)), "after {now_s} s, at most {limit}");
    }
}

/// The list has pending charges of all accounts. Charges that were paid in time or have expired are not due.
pub async fn overdue_charges_come_longest_overdue_first(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let mut pending = Vec::new();
    for (due_s, account) in DUE_S.into_iter().zip(accounts.into_iter().cycle()) {
        let mut charge = pending_charge(account);
        charge.terms.expires_in_s = u32::try_from(due_s).unwrap();
        for status in ChargeStatus::ALL {
            let id: ChargeId = crate::builders::fresh();
            let txid = cais_domain::txid::Txid::of_charge(id);
            let charge = in_status(Charge { id, txid, ..charge.clone() }, status);
            let charge = h.charge(charge).await;
            if status == ChargeStatus::Pending {
                pending.push((due_s, charge));
            }
        }
    }
    pending.sort_unstable_by_key(|(due_s, _)| *due_s);
    let pending: Vec<Charge> = pending.into_iter().map(|(_, charge)| charge).collect();
    for (now_s, limit, expected) in [(9, 50, 0), (45, 50, 4), (45, 2, 2), (1_000, 50, 5)] {
        let due = h.store.list_overdue_charges(after_s(now_s), limit).await.unwrap();
        assert!(due.iter().eq(pending.iter().take(expected)), "after {now_s} s, at most {limit}");
    }
}

/// Records that wait for work stay, and so do young records. An unmatched callback stays as long as an event.
pub async fn pruning_removes_only_old_finished_records(h: &mut Harness) {
    let account = h.account().await.id;
    for (key, at_s, answered) in [("old-answered", 0, true), ("old-waiting", 0, false), ("new-answered", 100, true)] {
        let mut change = take(account, key, "chg_1");
        change.at = after_s(at_s);
        if let Some(IdempotencyChange::Take(record)) = &mut change.idempotency {
            record.answer = answered.then(|| steps::answer(ResponseKind::Created, b"{}"));
        }
        h.commit_ok(change).await;
    }
    // The record was released without a due time, and no repeat followed.
    h.commit_ok(take(account, "old-released", "chg_1")).await;
    let name = steps::idempotency_ref(account, "old-released");
    h.commit_ok(with_idempotency(IdempotencyChange::Release { name, fence: 1, due_at: None })).await;
    let unmatched = CallbackState::Unmatched;
    for (state, at_s) in [(CallbackState::Done, 0), (CallbackState::Done, 100), (unmatched, 0), (unmatched, 10)] {
        let callback = Callback { state, received_at: after_s(at_s), due_at: None, ..a_callback() };
        h.commit_ok(steps::receive(&callback)).await;
    }
    let waiting = a_callback();
    h.commit_ok(steps::receive(&waiting)).await;

    let (mut records, mut callbacks) = (0, 0);
    loop {
        let before = PruneBefore {
            idempotency_records: after_s(50),
            marks: after_s(50),
            events: after_s(5),
            requests: after_s(0),
        };
        let pruned = h.store.prune(before).await.unwrap();
        records += pruned.idempotency_records;
        callbacks += pruned.callbacks;
        if (pruned.idempotency_records, pruned.callbacks) == (0, 0) {
            break;
        }
    }
    assert_eq!((records, callbacks), (2, 2));
    for (key, there) in
        [("old-answered", false), ("old-released", false), ("old-waiting", true), ("new-answered", true)]
    {
        let record = h.store.find_idempotency_record(&steps::idempotency_ref(account, key)).await.unwrap();
        assert_eq!(record.is_some(), there, "{key}");
    }
    let due = h.store.list_due_callbacks(after_s(1), 50).await.unwrap();
    assert_eq!(due, [Callback { version: 1, ..waiting.clone() }]);
    // The callback that was kept can still be updated, and the pruned key can be used again.
    let done = Callback { version: 1, state: CallbackState::Done, due_at: None, ..waiting };
    h.commit_ok(steps::write(Write::update(done), start())).await;
    h.commit_ok(take(account, "old-answered", "chg_2")).await;
}

fn with_idempotency(idempotency: IdempotencyChange) -> ChangeSet {
    ChangeSet { idempotency: Some(idempotency), ..ChangeSet::new(start()) }
}
