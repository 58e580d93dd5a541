//! Refunds with an open outcome are polled. A refund is sent again only if the acquirer does not have it.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundState, RefundStatus};
use cais_ports::{PageRequest, ReturnNature, Store as _, UpstreamProgress, UpstreamReturn, Write, alerts};
use cais_testkit::builders::{a_refund, pending_charge, refund_in_status, steps};
use cais_testkit::psp::{LookupReply, Moment, OrderKind, OrderReply};
use cais_testkit::{CapturedLogs, Crash};
use cais_use_cases::SyncGate;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::refunds::RefundName;
use cais_use_cases::refunds::fetch::{FetchError, fetch};
use cais_use_cases::refunds::list::list;
use cais_use_cases::refunds::poll;
use cais_use_cases::statement::ListError;

use crate::bed::{LONG, TestBed, all, part};

const FIRST_PAGE: PageRequest<cais_domain::ids::RefundId> = PageRequest { limit: 50, starting_after: None };

async fn processing(returning: OrderReply) -> (TestBed, cais_domain::charge::Charge) {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(returning);
    bed.refund("a", &charge, all()).await.unwrap();
    assert_eq!(bed.status(), RefundStatus::Processing);
    (bed, charge)
}

#[tokio::test]
async fn poll_applies_refund_outcome() {
    for (progress, status, available) in [
        (UpstreamProgress::Done { at: None }, RefundStatus::Completed, 0),
        (UpstreamProgress::Failed { reason: None }, RefundStatus::Failed, 1_000),
    ] {
        let (bed, _) = processing(OrderReply::Accepts).await;
        assert_eq!((bed.poll().await, bed.status()), (0, RefundStatus::Processing));
        bed.psp.set_returns_progress(&progress);
        bed.clock.advance(LONG);
        assert_eq!((bed.poll().await, bed.status()), (1, status));
        assert_eq!((bed.available(), bed.in_transit(), bed.psp.refund_orders().len()), (available, 0, 1));
        bed.clock.advance(LONG);
        assert_eq!(bed.poll().await, 0, "the refund is not polled any more");
        bed.check().await;
    }
}

#[tokio::test]
async fn refund_that_cannot_be_changed_is_postponed() {
    let (bed, _) = processing(OrderReply::Accepts).await;
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    let due = bed.only_refund().due_at.unwrap();
    bed.clock.set(due);
    bed.store.crash_at(1, Crash::Before);
    assert_eq!(bed.poll().await, 0);
    let put_off = bed.only_refund();
    assert!(put_off.due_at.is_some_and(|next| next > due), "the refund is due after the others");
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status()), (1, RefundStatus::Completed));
    bed.check().await;
}

#[tokio::test]
async fn poll_pauses_grow_without_outcome() {
    let (bed, _) = processing(OrderReply::Accepts).await;
    let mut pauses = Vec::new();
    for _ in 0..12 {
        let due = bed.only_refund().due_at.unwrap();
        bed.clock.set(due);
        poll::run_once(&bed.ports).await.unwrap();
        pauses.push(bed.only_refund().due_at.unwrap().duration_since(due).as_secs());
    }
    assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]);
    assert_eq!(bed.psp.refund_orders().len(), 1);
}

#[tokio::test]
async fn polls_within_first_minute_log_no_warning() {
    let (bed, _) = processing(OrderReply::Silent).await;
    let logs = CapturedLogs::start();
    for _ in 0..4 {
        let due = bed.only_refund().due_at.unwrap();
        bed.clock.set(due);
        poll::run_once(&bed.ports).await.unwrap();
    }
    assert_eq!(logs.warnings(), Vec::<serde_json::Value>::new());
    bed.psp.set_lookup_reply(LookupReply::Silent);
    bed.clock.set(bed.only_refund().due_at.unwrap());
    poll::run_once(&bed.ports).await.unwrap();
    assert_eq!(logs.warnings().len(), 1, "an acquirer without a reply");
}

/// The acquirer shows the refund, but the store has no charge of it.
#[tokio::test]
async fn refund_on_corrupt_data_is_read_as_stored() {
    let bed = TestBed::new().await;
    let charge = pending_charge(bed.account.id);
    bed.psp.store_charge(&charge);
    let pix = bed.psp.pay(&charge.txid, 1_000);
    let pending = Refund { end_to_end_id: pix.clone(), ..a_refund(&charge) };
    let refund = refund_in_status(pending, RefundStatus::Processing);
    bed.store.commit(steps::write(Write::insert(refund.clone()), refund.created_at)).await.unwrap();
    bed.psp.change_payment(&pix, |payment| {
        let (name, amount) = (refund.id.suffix(), refund.amount);
        let (nature, progress) = (ReturnNature::Ordinary, UpstreamProgress::Done { at: None });
        payment.returns.push(UpstreamReturn { name, return_id: None, nature, amount, progress });
    });
    let logs = CapturedLogs::start();
    let name = RefundName::Id(refund.id);
    let read = fetch(&bed.ports, &SyncGate::new(), bed.account.id, &name).await;
    assert_eq!(read.map(|read| read.state), Ok(refund.state));
    assert_eq!(logs.alerts(alerts::RECORD_UNREADABLE).len(), 1);
}

#[tokio::test]
async fn missing_refund_is_sent_again_by_same_name_after_a_minute() {
    let (bed, _) = processing(OrderReply::Silent).await;
    bed.psp.set(OrderReply::Accepts);
    bed.poll().await;
    assert_eq!(bed.psp.refund_orders().len(), 1, "the first request may still be in transit");
    bed.clock.advance(Duration::from_mins(1));
    bed.poll().await;
    let orders = bed.psp.refund_orders();
    assert_eq!((orders.len(), orders[0].id), (2, orders[1].id));
    assert_eq!(bed.psp.returned(), 1_000);
    bed.check().await;
}

#[tokio::test]
async fn two_nodes_send_missing_refund_once() {
    let (bed, _) = processing(OrderReply::Silent).await;
    bed.clock.advance(LONG);
    // The other node polls while the order of the first node is in transit.
    let other = bed.clone();
    bed.psp.when(Moment::Ordered, move || {
        let pass = futures_util::future::FutureExt::now_or_never(poll::run_once(&other.ports));
        assert_eq!(pass.unwrap().unwrap().done, 0);
    });
    bed.poll().await;
    assert_eq!(bed.psp.refund_orders().len(), 2, "the first order and one repeat");
    bed.check().await;
}

#[tokio::test]
async fn refused_repeat_ends_refund_only_if_absent_upstream() {
    let (bed, _) = processing(OrderReply::Silent).await;
    bed.psp.set(OrderReply::Refuses);
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.status(), bed.available()), (RefundStatus::Failed, 1_000));
    assert_eq!(bed.event_types(), [EventType::ChargePaid, EventType::RefundFailed]);
    bed.check().await;

    // The first order was accepted. The second one is refused for that reason.
    let (bed, _) = processing(OrderReply::LosesReplies).await;
    bed.psp.set_lookup_reply(LookupReply::NotFound);
    bed.psp.set(OrderReply::Refuses);
    let psp = bed.psp.clone();
    bed.psp.when(Moment::Ordered, move || psp.set_lookup_reply(LookupReply::Accurate));
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 0);
    assert_eq!((bed.status(), bed.in_transit()), (RefundStatus::Processing, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn unreachable_acquirer_leaves_refund_unchanged() {
    for lookup_reply in [LookupReply::Silent, LookupReply::NotFound] {
        let (bed, _) = processing(OrderReply::Accepts).await;
        bed.psp.set_lookup_reply(lookup_reply);
        for returning in [OrderReply::Down, OrderReply::Silent] {
            bed.psp.set(returning);
            bed.clock.advance(LONG);
            assert_eq!(bed.poll().await, 0);
            assert_eq!((bed.status(), bed.in_transit()), (RefundStatus::Processing, 1_000));
        }
        bed.psp.set_lookup_reply(LookupReply::Accurate);
        bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
        bed.clock.advance(LONG);
        assert_eq!(bed.poll().await, 1);
        bed.check().await;
    }
}

#[tokio::test]
async fn record_with_other_amount_or_outcome_changes_nothing() {
    let (bed, charge) = processing(OrderReply::Accepts).await;
    let pix = bed.charge(charge.id).state.settlement().unwrap().end_to_end_id.clone();
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    bed.psp.change_payment(&pix, |payment| payment.returns[0].amount = Money::from_centavos(999));
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status()), (0, RefundStatus::Processing));
    bed.psp.change_payment(&pix, |payment| payment.returns[0].amount = Money::from_centavos(1_000));
    bed.clock.advance(LONG);
    assert_eq!((bed.poll().await, bed.status()), (1, RefundStatus::Completed));

    // The refund fails after the acquirer has reported its completion.
    bed.psp.set_returns_progress(&UpstreamProgress::Failed { reason: None });
    let looked = cais_use_cases::reconcile::run_once(&bed.ports).await.unwrap();
    assert_eq!((looked.done, bed.status(), bed.available()), (0, RefundStatus::Completed, 0));
    assert_eq!(bed.event_types().len(), 3);
    bed.check().await;
}

#[tokio::test]
async fn refund_list_is_refreshed_once_per_second_or_stored() {
    let (bed, charge) = processing(OrderReply::Accepts).await;
    let (gate, name) = (SyncGate::new(), ChargeName::Id(charge.id));
    let read = || list(&bed.ports, &gate, bed.account.id, &name, FIRST_PAGE);
    let finds = bed.psp.finds(OrderKind::Refund);
    assert_eq!(read().await.unwrap().rows[0].state.status(), RefundStatus::Processing);
    bed.psp.set_returns_progress(&UpstreamProgress::Done { at: None });
    assert_eq!(read().await.unwrap().rows[0].state.status(), RefundStatus::Processing);
    assert_eq!(bed.psp.finds(OrderKind::Refund), finds + 1, "within the same second");
    bed.clock.advance(Duration::from_secs(1));
    bed.psp.set_lookup_reply(LookupReply::Silent);
    assert_eq!(read().await.unwrap().rows[0].state.status(), RefundStatus::Processing);
    bed.psp.set_lookup_reply(LookupReply::Accurate);
    bed.clock.advance(Duration::from_secs(1));
    let page = read().await.unwrap();
    assert!(matches!(page.rows[0].state, RefundState::Completed { .. }));
    assert_eq!(page.rows[0], bed.only_refund());
}

#[tokio::test]
async fn refund_list_has_visible_refunds_newest_first() {
    let bed = TestBed::new().await;
    let (charge, other) = (bed.paid().await, bed.paid().await);
    bed.psp.set(OrderReply::Completes);
    for key in ["a", "b", "c"] {
        bed.refund(key, &charge, part(100)).await.unwrap();
    }
    let foreign = crate::bed::id_of(&bed.refund("d", &other, part(100)).await.unwrap());
    bed.psp.set(OrderReply::Down);
    bed.refund("e", &charge, part(100)).await.unwrap_err();
    let gate = SyncGate::new();
    let name = ChargeName::Id(charge.id);
    let mut seen = Vec::new();
    let mut page = PageRequest { limit: 2, starting_after: None };
    loop {
        let rows = list(&bed.ports, &gate, bed.account.id, &name, page).await.unwrap();
        seen.extend(rows.rows.iter().map(|refund| refund.id));
        page.starting_after = seen.last().copied();
        if !rows.has_more {
            break;
        }
    }
    assert_eq!(seen.len(), 3);
    assert!(seen.is_sorted_by(|newer, older| newer > older));
    for unknown in [foreign, cais_testkit::builders::fresh()] {
        let page = PageRequest { limit: 2, starting_after: Some(unknown) };
        let refused = list(&bed.ports, &gate, bed.account.id, &name, page).await;
        assert_eq!(refused, Err(ListError::UnknownCursor.into()));
    }
    let stranger = list(&bed.ports, &gate, cais_testkit::builders::fresh(), &name, FIRST_PAGE).await;
    assert_eq!(stranger, Err(FetchError::NotFound.into()));
}
