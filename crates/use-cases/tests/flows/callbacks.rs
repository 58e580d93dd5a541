//! A callback is a hint that is stored and answered. Its effects are applied only after the acquirer's record was read.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::CallbackId;
use cais_ports::{
    AuditFilter, Callback, CallbackQueries as _, CallbackState, ChangeSet, ChargeOrder, Clock as _, PageRequest,
    ResponseKind, Store as _, UpstreamStatus, Write,
};
use cais_testkit::builders::{a_payment, an_account, an_operator, fresh, main_acquirer};
use cais_testkit::psp::{List, OrderKind, OrderReply};
use cais_use_cases::callbacks::retry::{self, RetryError};
use cais_use_cases::callbacks::{ReceiveError, process, receive};
use cais_use_cases::charges::create::create;

use crate::bed::{TestBed, id_of, ten_reais};
use crate::leases::SlowReply;

fn states(bed: &TestBed) -> Vec<CallbackState> {
    bed.store.callbacks().iter().map(|callback| callback.state).collect()
}

#[tokio::test]
async fn callback_leads_to_payment() {
    let bed = TestBed::new().await;
    let (one, two) = (bed.pending().await, bed.pending().await);
    bed.psp.pay(&one.txid, 1_000);
    bed.psp.pay(&two.txid, 1_000);
    bed.receive_callback(&format!("{},{}", one.txid, two.txid)).await;
    assert_eq!(bed.available(), 0, "kept, not believed yet");
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(bed.available(), 2_000);
    assert_eq!(states(&bed), [CallbackState::Done]);
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 0);
    bed.check().await;
}

#[tokio::test]
async fn repeated_callback_credits_payment_once() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_000);
    for _ in 0..3 {
        bed.receive_callback(charge.txid.as_str()).await;
    }
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(bed.available(), 1_000);
    assert_eq!(bed.event_types(), [EventType::ChargePaid]);
    bed.receive_callback(charge.txid.as_str()).await;
    assert_eq!(
        states(&bed),
        [CallbackState::Done, CallbackState::Waiting],
        "a repeat of a done callback is a new hint"
    );
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(bed.available(), 1_000);
    bed.check().await;
}

#[tokio::test]
async fn forged_callback_credits_nothing() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(charge.txid.as_str()).await;
    bed.work().await;
    assert_eq!(bed.available(), 0);
    assert_eq!(bed.status(charge.id), ChargeStatus::Pending);
    assert_eq!(states(&bed), [CallbackState::Done]);
}

#[tokio::test]
async fn callback_before_its_pix_is_shown_waits() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(&format!("{}/E1234567820260102030400000000099", charge.txid)).await;
    bed.work().await;
    assert_eq!(states(&bed), [CallbackState::Waiting], "upstream answers, but shows nothing yet");
    let paid = bed.psp.pay(&charge.txid, 1_000);
    bed.receive_callback(&format!("{}/{paid}", charge.txid)).await;
    bed.clock.advance(Duration::from_secs(400));
    bed.work().await;
    assert_eq!(bed.available(), 1_000);
    assert_eq!(states(&bed), [CallbackState::Waiting, CallbackState::Done], "the first one's Pix is still not shown");
    bed.check().await;
}

#[tokio::test]
async fn callback_without_stored_charge_is_unmatched() {
    let bed = TestBed::new().await;
    bed.receive_callback("0123456789abcdefghijklmnopq").await;
    bed.work().await;
    assert_eq!(states(&bed), [CallbackState::Unmatched]);
    assert_eq!(bed.psp.finds(OrderKind::Charge), 0, "only charges of ours are read from the acquirer");
    assert!(bed.store.callbacks().iter().all(|callback| callback.due_at.is_none()));
}

#[tokio::test]
async fn malformed_callback_is_refused_and_not_kept() {
    let bed = TestBed::new().await;
    let refused = receive(&bed.ports, &main_acquirer(), "garbage").await;
    assert!(matches!(refused, Err(ReceiveError::Malformed(_))), "{refused:?}");
    assert_eq!(states(&bed), []);
}

#[tokio::test]
async fn callback_is_kept_as_its_names_alone() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(&format!("{},{}", charge.txid, charge.txid)).await;
    assert_eq!(bed.store.callbacks()[0].body, format!("received {} - -", charge.txid).as_bytes());
}

#[tokio::test]
async fn callback_waits_while_acquirer_is_silent() {
    for mood in [OrderReply::Down, OrderReply::Silent] {
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        bed.psp.pay(&charge.txid, 1_000);
        bed.receive_callback(charge.txid.as_str()).await;
        bed.psp.set_all(mood);
        for _ in 0..3 {
            assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 0);
            assert_eq!(states(&bed), [CallbackState::Waiting], "{mood:?}");
            bed.clock.advance(Duration::from_mins(6));
        }
        bed.psp.set_all(OrderReply::Accepts);
        assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
        assert_eq!(bed.available(), 1_000);
    }
}

#[tokio::test]
async fn payment_called_back_before_creation_reply_counts_once() {
    let bed = TestBed::new().await;
    let slow = SlowReply::new(&bed);
    let ports = bed.ports_with(slow.clone());
    let command = bed.command("a", ten_reais());
    let creation = tokio::spawn(async move { create(&ports, command).await });
    slow.done.acquire().await.unwrap().forget();

    let charge = bed.only_charge();
    assert_eq!(charge.state.status(), ChargeStatus::Creating);
    bed.psp.pay(&charge.txid, 1_000);
    bed.receive_callback(charge.txid.as_str()).await;
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(bed.status(charge.id), ChargeStatus::Paid, "issued as the acquirer shows, then paid");

    slow.let_through.add_permits(1);
    let answer = creation.await.unwrap().unwrap();
    assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, charge.id));
    let again = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(again.body, answer.body);
    assert_eq!((bed.available(), bed.event_types()), (1_000, vec![EventType::ChargePaid]));
    bed.check().await;
}

#[tokio::test]
async fn payment_in_creation_reply_is_credited() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::LosesReplies);
    bed.create("a", ten_reais()).await.unwrap_err();
    let charge = bed.only_charge();
    bed.psp.set_all(OrderReply::Accepts);
    bed.psp.pay(&charge.txid, 1_000);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(answer.kind, ResponseKind::Created);
    assert_eq!((bed.status(charge.id), bed.available()), (ChargeStatus::Paid, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn callback_for_charge_unknown_to_acquirer_waits() {
    let bed = TestBed::with(an_account(), 2).await;
    let charge = bed.pending().await;
    receive(&bed.ports, &second(), charge.txid.as_str()).await.unwrap();
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!(states(&bed), [CallbackState::Waiting]);

    bed.second.issue_uncounted(&order(&charge));
    bed.second.pay(&charge.txid, 1_000);
    bed.clock.advance(Duration::from_secs(2));
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!((bed.status(charge.id), bed.available()), (ChargeStatus::Paid, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn duplicate_charge_elsewhere_neither_cancels_nor_expires() {
    let bed = TestBed::with(an_account(), 2).await;
    let charge = bed.pending().await;
    bed.second.issue_uncounted(&order(&charge));
    bed.second.set_status(&charge.txid, UpstreamStatus::Removed);
    receive(&bed.ports, &second(), charge.txid.as_str()).await.unwrap();
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!((bed.status(charge.id), bed.event_types()), (ChargeStatus::Pending, vec![]));
}

#[tokio::test]
async fn unreadable_callback_does_not_delay_others() {
    let bed = TestBed::with(an_account(), 2).await;
    let (lost, paid) = (bed.pending().await, bed.pending().await);
    bed.second.issue_uncounted(&order(&paid));
    bed.second.pay(&paid.txid, 1_000);
    receive(&bed.ports, &second(), format!("{},{}", lost.txid, paid.txid).into_bytes()).await.unwrap();
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!((states(&bed), bed.available()), (vec![CallbackState::Waiting], 1_000));
}

fn second() -> AcquirerName {
    AcquirerName::parse("second").unwrap()
}

/// Returns the order of the charge for another acquirer.
fn order(charge: &Charge) -> ChargeOrder {
    let (txid, amount) = (charge.txid.clone(), charge.terms.amount);
    ChargeOrder { txid, amount, expires_in_s: 3_600, payer: None, description: None }
}

/// Returns a callback in the form that institutions send: with the Pix and its time.
fn named(bed: &TestBed, charge: &Charge, pix: &EndToEndId) -> String {
    format!("{}/{pix}/{}", charge.txid, bed.clock.now())
}

#[tokio::test]
async fn callbacks_of_many_pix_are_answered_by_one_page() {
    let bed = TestBed::new().await;
    for _ in 0..20 {
        let charge = bed.pending().await;
        let pix = bed.psp.pay(&charge.txid, 1_000);
        bed.receive_callback(&named(&bed, &charge, &pix)).await;
        bed.clock.advance(Duration::from_millis(10));
    }
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 20);
    assert_eq!((bed.psp.lists(List::Received), bed.psp.finds(OrderKind::Charge)), (1, 0));
    assert_eq!(bed.available(), 20_000);
    assert!(states(&bed).iter().all(|state| *state == CallbackState::Done));
    bed.check().await;
}

#[tokio::test]
async fn pix_missing_from_a_page_is_read_by_itself() {
    let bed = TestBed::new().await;
    for number in 0..10 {
        let charge = bed.pending().await;
        let pix = bed.psp.pay(&charge.txid, 1_000);
        if number < 2 {
            bed.psp.hide_from_list(pix.clone());
        }
        bed.receive_callback(&named(&bed, &charge, &pix)).await;
    }
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 10);
    assert_eq!((bed.psp.lists(List::Received), bed.psp.finds(OrderKind::Charge)), (1, 2));
    assert_eq!(bed.available(), 10_000);
    bed.check().await;
}

#[tokio::test]
async fn pix_on_a_page_counts_for_its_own_charge_only() {
    let bed = TestBed::new().await;
    let (paid, other) = (bed.pending().await, bed.pending().await);
    let mut pix = Vec::new();
    for _ in 0..10 {
        pix.push(bed.psp.pay(&paid.txid, 1_000));
    }
    for pix in &pix {
        bed.receive_callback(&named(&bed, &other, pix)).await;
    }
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!((bed.available(), bed.psp.lists(List::Received), bed.psp.finds(OrderKind::Charge)), (0, 1, 1));
    assert!(states(&bed).iter().all(|state| *state == CallbackState::Waiting));
}

#[tokio::test]
async fn forged_callbacks_cost_bounded_reads_and_delay_no_others() {
    let bed = TestBed::new().await;
    for _ in 0..400 {
        let charge = bed.pending().await;
        bed.receive_callback(&named(&bed, &charge, &a_payment(1).end_to_end_id)).await;
    }
    for _ in 0..10 {
        let charge = bed.pending().await;
        let pix = bed.psp.pay(&charge.txid, 1_000);
        bed.receive_callback(&named(&bed, &charge, &pix)).await;
    }
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 10);
    assert_eq!(bed.available(), 10_000);
    assert_eq!((bed.psp.lists(List::Received), bed.psp.finds(OrderKind::Charge)), (1, 256));
    // The charges that were not read in this pass are read in the next one.
    bed.clock.advance(Duration::from_secs(1));
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!(bed.psp.finds(OrderKind::Charge), 512);
}

#[tokio::test]
async fn callback_with_many_names_ends_after_few_passes() {
    let bed = TestBed::new().await;
    let mut names = Vec::new();
    for _ in 0..600 {
        names.push(bed.pending().await.txid.to_string());
    }
    bed.receive_callback(&names.join(",")).await;
    for _ in 0..3 {
        process::run_once(&bed.ports).await.unwrap();
        bed.clock.advance(Duration::from_secs(1));
    }
    assert_eq!((states(&bed), bed.psp.finds(OrderKind::Charge)), (vec![CallbackState::Done; 3], 600));
}

#[tokio::test]
async fn pix_that_is_never_shown_ends_unmatched() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(&named(&bed, &charge, &a_payment(1).end_to_end_id)).await;
    for _ in 0..40 {
        process::run_once(&bed.ports).await.unwrap();
        bed.clock.advance(Duration::from_mins(6));
    }
    assert_eq!((states(&bed), bed.psp.finds(OrderKind::Charge)), (vec![CallbackState::Unmatched], 20));
}

#[tokio::test]
async fn unmatched_callbacks_of_an_acquirer_are_bounded() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.receive_callback(&named(&bed, &charge, &a_payment(1).end_to_end_id)).await;
    let waiting = bed.store.callbacks().remove(0);
    let mut kept = ChangeSet::new(bed.clock.now());
    for number in 0..10_000_u32 {
        let id: CallbackId = fresh();
        let body = number.to_string().into_bytes();
        kept.writes.push(Write::insert(Callback {
            id,
            body,
            state: CallbackState::Unmatched,
            due_at: None,
            version: 0,
            ..waiting.clone()
        }));
    }
    bed.store.commit(kept).await.unwrap();
    for _ in 0..20 {
        process::run_once(&bed.ports).await.unwrap();
        bed.clock.advance(Duration::from_mins(6));
    }
    let unmatched = states(&bed).iter().filter(|state| **state == CallbackState::Unmatched).count();
    assert_eq!((unmatched, bed.psp.finds(OrderKind::Charge)), (10_000, 20), "the newest is logged and not kept");
}

#[tokio::test]
async fn unmatched_callback_is_read_again_after_a_retry() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let pix = a_payment(1_000).end_to_end_id;
    bed.receive_callback(&named(&bed, &charge, &pix)).await;
    for _ in 0..40 {
        process::run_once(&bed.ports).await.unwrap();
        bed.clock.advance(Duration::from_mins(6));
    }
    let page = PageRequest { limit: 50, starting_after: None };
    let unmatched = retry::list_unmatched(&bed.ports, page).await.unwrap().rows;
    assert_eq!(unmatched.len(), 1);
    bed.psp.pay_as(&charge.txid, 1_000, pix);
    let operator = an_operator();
    let again = retry::retry(&bed.ports, &operator, unmatched[0].id).await.unwrap();
    assert_eq!((again.state, again.attempts), (CallbackState::Waiting, 0));
    let audit = PageRequest { limit: 50, starting_after: None };
    let audit = bed.ports.queries.list_audit(AuditFilter::default(), audit).await.unwrap().rows;
    assert_eq!((audit[0].action.as_str(), &audit[0].subject), ("callback.retry", &again.id.to_string()));
    assert_eq!(process::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!((states(&bed), bed.available()), (vec![CallbackState::Done], 1_000));
    let done = retry::retry(&bed.ports, &operator, unmatched[0].id).await;
    assert_eq!(done, Err(RetryError::Done(unmatched[0].id)));
    bed.check().await;
}

#[tokio::test]
async fn unmatched_callbacks_of_one_acquirer_are_bounded() {
    let bed = TestBed::new().await;
    for number in 0..10_100 {
        bed.receive_callback(&format!("{number:032}")).await;
    }
    while process::run_once(&bed.ports).await.unwrap().done > 0 {}
    let kept = bed.store.count_callbacks().await.unwrap();
    // The pass that reaches the bound adds all of its own callbacks.
    assert_eq!((kept.open.is_empty(), kept.unmatched.values().sum::<u64>()), (true, 10_100));
    for number in 20_000..20_010 {
        bed.receive_callback(&format!("{number:032}")).await;
    }
    process::run_once(&bed.ports).await.unwrap();
    assert_eq!(bed.store.count_callbacks().await.unwrap(), kept);
}
