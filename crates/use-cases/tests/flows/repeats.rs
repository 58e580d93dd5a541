//! Repeats of callbacks add no rows, and one acquirer has a limited number of open callbacks.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_ports::{
    AnyRecord, Callback, CallbackState, ChangeSet, Clock as _, CommitError, Committed, Store, Write, alerts,
};
use cais_testkit::builders::{a_callback, a_payment, main_acquirer};
use cais_testkit::{CapturedLogs, MemoryStore};
use cais_use_cases::callbacks::{self, ReceiveError, process, receive};
use futures_util::future::join_all;

use crate::bed::TestBed;

/// A store in which a worker marks each callback just before the test updates it.
struct Raced(Arc<MemoryStore>);

#[async_trait]
impl Store for Raced {
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError> {
        match change.writes.as_slice() {
            [Write::Update(AnyRecord::Callback(_))] => Err(CommitError::Stale),
            _ => self.0.commit(change).await,
        }
    }
}

fn states(bed: &TestBed) -> Vec<CallbackState> {
    bed.store.callbacks().iter().map(|callback| callback.state).collect()
}

#[tokio::test]
async fn repeat_of_open_callback_is_stored_once_and_due() {
    let bed = TestBed::new().await;
    let (one, two) = (bed.pending().await, bed.pending().await);
    let pix = a_payment(1_000).end_to_end_id;
    let [first, repeat] =
        [[&one, &two], [&two, &one]].map(|charges| charges.map(|charge| format!("{}/{pix}", charge.txid)).join(","));
    bed.receive_callback(&first).await;
    process::run_once(&bed.ports).await.unwrap();
    let waiting = bed.store.callbacks();
    assert_eq!((waiting[0].attempts, waiting[0].state), (1, CallbackState::Waiting));
    assert!(waiting[0].due_at > Some(bed.clock.now()));
    bed.receive_callback(&repeat).await;
    let repeated = Callback { due_at: Some(bed.clock.now()), version: waiting[0].version + 1, ..waiting[0].clone() };
    assert_eq!(bed.store.callbacks(), std::slice::from_ref(&repeated));
    // The callback is due already. Its version must still increase, so that a worker that read the acquirer before the
    // repeat cannot mark it.
    bed.receive_callback(&repeat).await;
    assert_eq!(bed.store.callbacks(), [Callback { version: repeated.version + 1, ..repeated }]);
}

#[tokio::test]
async fn repeat_of_unmatched_callback_is_read_again() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let pix = a_payment(1_000).end_to_end_id;
    let names = format!("{}/{pix}", charge.txid);
    bed.receive_callback(&names).await;
    for _ in 0..40 {
        process::run_once(&bed.ports).await.unwrap();
        bed.clock.advance(Duration::from_mins(6));
    }
    assert_eq!(states(&bed), [CallbackState::Unmatched]);
    bed.psp.pay_as(&charge.txid, 1_000, pix);
    bed.receive_callback(&names).await;
    assert_eq!((states(&bed), bed.store.callbacks()[0].attempts), (vec![CallbackState::Waiting], 0));
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!((states(&bed), bed.available()), (vec![CallbackState::Done], 1_000));
    bed.check().await;
}

#[tokio::test]
async fn repeat_that_meets_a_worker_is_stored_anew() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(charge.txid.as_str()).await;
    let ports = bed.over(Raced(bed.store.clone())).ports;
    receive(&ports, &main_acquirer(), charge.txid.as_str()).await.unwrap();
    assert_eq!(states(&bed), [CallbackState::Waiting, CallbackState::Waiting]);
}

#[tokio::test]
async fn concurrent_repeats_leave_one_row() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(charge.txid.as_str()).await;
    let before = bed.store.callbacks();
    let ports = bed.contended().ports;
    let acquirer = main_acquirer();
    let repeats = (0..8).map(|_| receive(&ports, &acquirer, charge.txid.as_str()));
    assert!(join_all(repeats).await.iter().all(Result::is_ok));
    assert_eq!(bed.store.callbacks(), [Callback { version: before[0].version + 8, ..before[0].clone() }]);
}

#[tokio::test]
async fn callback_whose_look_up_fails_is_stored_anew() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(charge.txid.as_str()).await;
    let store = bed.store.clone();
    let ports = bed.before_commits(move || store.set_unreachable(false)).ports;
    bed.store.set_unreachable(true);
    receive(&ports, &main_acquirer(), charge.txid.as_str()).await.unwrap();
    assert_eq!(states(&bed), [CallbackState::Waiting, CallbackState::Waiting]);
}

#[tokio::test]
async fn acquirer_with_too_many_open_callbacks_is_refused() {
    let (logs, bed) = (CapturedLogs::start(), TestBed::new().await);
    let charge = bed.pending().await;
    let mut many = ChangeSet::new(bed.clock.now());
    many.writes.extend((0..99_999).map(|_| Write::insert(a_callback())));
    bed.store.commit(many).await.unwrap();
    callbacks::count(&bed.ports).await.unwrap();
    bed.receive_callback(charge.txid.as_str()).await;
    callbacks::count(&bed.ports).await.unwrap();
    assert_eq!(logs.alerts(alerts::CALLBACKS_FULL).len(), 1);
    let full = receive(&bed.ports, &main_acquirer(), charge.txid.as_str()).await;
    assert_eq!(full, Err(ReceiveError::Full));
    let first = bed.store.callbacks().remove(0);
    let mut done = ChangeSet::new(bed.clock.now());
    done.writes.push(Write::update(Callback { state: CallbackState::Done, due_at: None, ..first }));
    bed.store.commit(done).await.unwrap();
    callbacks::count(&bed.ports).await.unwrap();
    bed.receive_callback(charge.txid.as_str()).await;
    assert_eq!(logs.alerts(alerts::CALLBACKS_FULL).len(), 1);
}
