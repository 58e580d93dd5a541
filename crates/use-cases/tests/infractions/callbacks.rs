//! Callbacks about disputes are hints for reads. They may come in any order and any number of times.

use std::time::Duration;

use cais_domain::infraction::InfractionStatus;
use cais_ports::{CallbackState, UpstreamInfractionStatus};
use cais_testkit::builders::main_acquirer;
use cais_testkit::psp::{List, ListReply};
use cais_use_cases::callbacks::{process, receive};

use crate::bed::TestBed;

#[tokio::test]
async fn callback_triggers_immediate_read() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 1_000);
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Done);
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Open], [0, 0, 1_000]));
    bed.psp.settle(&id, UpstreamInfractionStatus::Rejected);
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Done);
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Done, "the same again");
    assert_eq!((bed.statuses(), bed.money()), (vec![InfractionStatus::Won], [1_000, 0, 0]));
    bed.check().await;
}

#[tokio::test]
async fn callback_for_old_infraction_finds_it() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    let id = bed.psp.dispute(&pix, 1_000);
    bed.clock.advance(Duration::from_hours(24 * 80));
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Done);
    bed.psp.settle(&id, UpstreamInfractionStatus::Accepted);
    bed.clock.advance(Duration::from_hours(24 * 80));
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Done);
    assert_eq!(bed.statuses(), [InfractionStatus::Lost]);
    bed.check().await;
}

#[tokio::test]
async fn callback_for_unlisted_infraction_waits() {
    let bed = TestBed::new().await;
    let (_, pix) = bed.paid(1_000).await;
    bed.psp.set_list_reply(List::Infractions, ListReply::Frozen);
    let id = bed.psp.dispute(&pix, 1_000);
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Waiting);
    bed.psp.set_list_reply(List::Infractions, ListReply::Silent);
    assert_eq!(bed.process_later().await, CallbackState::Waiting);
    bed.psp.set_list_reply(List::Infractions, ListReply::Pages(1));
    assert_eq!(bed.process_later().await, CallbackState::Done);
    assert_eq!(bed.money(), [0, 0, 1_000]);
    bed.check().await;
}

#[tokio::test]
async fn infraction_that_is_never_listed_ends_unmatched() {
    let bed = TestBed::new().await;
    bed.receive_callback("inf-never-listed").await;
    let mut states = Vec::new();
    for _ in 0..20 {
        states.push(bed.process_later().await);
    }
    assert_eq!(states.iter().filter(|state| **state == CallbackState::Waiting).count(), 18);
    drop(bed.psp.take_infraction_list_requests());
    assert_eq!(
        (bed.process_later().await, bed.psp.take_infraction_list_requests().len()),
        (CallbackState::Unmatched, 0)
    );
}

#[tokio::test]
async fn many_forged_infractions_cost_bounded_reads() {
    let bed = TestBed::new().await;
    bed.receive_callback("inf-never-listed").await;
    let reads_of_one = bed.psp.take_infraction_list_requests().len();
    let names: Vec<String> = (0..40).map(|number| format!("inf-forged-{number}")).collect();
    receive(&bed.ports, &main_acquirer(), names.join(",")).await.unwrap();
    for _ in 0..100 {
        process::run_once(&bed.ports).await.unwrap();
        assert!(bed.psp.take_infraction_list_requests().len() <= 16 * reads_of_one);
        bed.clock.advance(Duration::from_mins(1));
    }
    assert!(
        bed.store.callbacks().iter().all(|callback| callback.state == CallbackState::Unmatched),
        "each callback was read to its end"
    );
}

#[tokio::test]
async fn callback_for_unknown_pix_is_unmatched() {
    let bed = TestBed::new().await;
    let pix = bed.psp.receive(None, 1_000);
    let id = bed.psp.dispute(&pix, 1_000);
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Unmatched);
    assert_eq!(bed.receive_callback("inf-../../etc").await, CallbackState::Unmatched);
    bed.psp.disable_infraction_reports();
    assert_eq!(bed.receive_callback(&id).await, CallbackState::Unmatched);
    assert_eq!(bed.all(), []);
}
