//! Refunds with an open outcome are polled. A refund is sent again only if the acquirer does not have it.

use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundState, RefundStatus};
use cais_ports::{PageRequest, ReturnNature, Store as _, UpstreamProgress, UpstreamReturn, Write, alerts};
use cais_testkit::builders::{a_refund, pending_charge, refund_in_status, steps};
use cais_testkit::psp::{Looking, Moment, OrderKind, Sending};
use cais_testkit::{CapturedLogs, Crash};
use cais_use_cases::SyncGate;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::refunds::RefundName;
use cais_use_cases::refunds::fetch::{FetchError, fetch};
use cais_use_cases::refunds::list::list;
use cais_use_cases::refunds::poll;
use cais_use_cases::statement::ListError;

use crate::world::{LONG, World, all, part};

const FIRST_PAGE: PageRequest<cais_domain::ids::RefundId> = PageRequest { limit: 50, starting_after: None };

async fn processing(returning: Sending) -> (World, cais_domain::charge::Charge) {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(returning);
    world.refund("a", &charge, all()).await.unwrap();
    assert_eq!(world.status(), RefundStatus::Processing);
    (world, charge)
}

#[tokio::test]
async fn poll_applies_refund_outcome() {
    for (progress, status, available) in [
        (UpstreamProgress::Done { at: None }, RefundStatus::Completed, 0),
        (UpstreamProgress::Failed { reason: None }, RefundStatus::Failed, 1_000),
    ] {
        let (world, _) = processing(Sending::Takes).await;
        assert_eq!((world.poll().await, world.status()), (0, RefundStatus::Processing));
        world.psp.settle_refunds(&progress);
        world.clock.advance(LONG);
        assert_eq!((world.poll().await, world.status()), (1, status));
        assert_eq!((world.available(), world.in_transit(), world.psp.refund_orders().len()), (available, 0, 1));
        world.clock.advance(LONG);
        assert_eq!(world.poll().await, 0, "the refund is not polled any more");
        world.check().await;
    }
}

#[tokio::test]
async fn refund_that_cannot_be_changed_is_postponed() {
    let (world, _) = processing(Sending::Takes).await;
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    let due = world.only_refund().due_at.unwrap();
    world.clock.set(due);
    world.store.crash_at(1, Crash::Before);
    assert_eq!(world.poll().await, 0);
    let put_off = world.only_refund();
    assert!(put_off.due_at.is_some_and(|next| next > due), "the refund is due after the others");
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status()), (1, RefundStatus::Completed));
    world.check().await;
}

#[tokio::test]
async fn poll_pauses_grow_without_outcome() {
    let (world, _) = processing(Sending::Takes).await;
    let mut pauses = Vec::new();
    for _ in 0..12 {
        let due = world.only_refund().due_at.unwrap();
        world.clock.set(due);
        poll::run_once(&world.ports).await.unwrap();
        pauses.push(world.only_refund().due_at.unwrap().duration_since(due).as_secs());
    }
    assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]);
    assert_eq!(world.psp.refund_orders().len(), 1);
}

#[tokio::test]
async fn polls_within_first_minute_log_no_warning() {
    let (world, _) = processing(Sending::Silent).await;
    let logs = CapturedLogs::start();
    for _ in 0..4 {
        let due = world.only_refund().due_at.unwrap();
        world.clock.set(due);
        poll::run_once(&world.ports).await.unwrap();
    }
    assert_eq!(logs.warnings(), Vec::<serde_json::Value>::new());
    world.psp.set_looking(Looking::Silent);
    world.clock.set(world.only_refund().due_at.unwrap());
    poll::run_once(&world.ports).await.unwrap();
    assert_eq!(logs.warnings().len(), 1, "an acquirer without a reply");
}

/// The acquirer shows the refund, but the store has no charge of it.
#[tokio::test]
async fn refund_on_corrupt_data_is_read_as_stored() {
    let world = World::new().await;
    let charge = pending_charge(world.account.id);
    world.psp.hold(&charge);
    let pix = world.psp.pay(&charge.txid, 1_000);
    let pending = Refund { end_to_end_id: pix.clone(), ..a_refund(&charge) };
    let refund = refund_in_status(pending, RefundStatus::Processing);
    world.store.commit(steps::write(Write::insert(refund.clone()), refund.created_at)).await.unwrap();
    world.psp.change_payment(&pix, |payment| {
        let (name, amount) = (refund.id.suffix(), refund.amount);
        let (nature, progress) = (ReturnNature::Ordinary, UpstreamProgress::Done { at: None });
        payment.returns.push(UpstreamReturn { name, return_id: None, nature, amount, progress });
    });
    let logs = CapturedLogs::start();
    let name = RefundName::Id(refund.id);
    let read = fetch(&world.ports, &SyncGate::new(), world.account.id, &name).await;
    assert_eq!(read.map(|read| read.state), Ok(refund.state));
    assert_eq!(logs.alerts(alerts::RECORD_UNREADABLE).len(), 1);
}

#[tokio::test]
async fn missing_refund_is_sent_again_by_same_name_after_a_minute() {
    let (world, _) = processing(Sending::Silent).await;
    world.psp.set(Sending::Takes);
    world.poll().await;
    assert_eq!(world.psp.refund_orders().len(), 1, "the first request may still be in transit");
    world.clock.advance(Duration::from_mins(1));
    world.poll().await;
    let orders = world.psp.refund_orders();
    assert_eq!((orders.len(), orders[0].id), (2, orders[1].id));
    assert_eq!(world.psp.returned(), 1_000);
    world.check().await;
}

#[tokio::test]
async fn two_nodes_send_missing_refund_once() {
    let (world, _) = processing(Sending::Silent).await;
    world.clock.advance(LONG);
    // The other node polls while the order of the first node is in transit.
    let other = world.clone();
    world.psp.when(Moment::Ordered, move || {
        let pass = futures_util::future::FutureExt::now_or_never(poll::run_once(&other.ports));
        assert_eq!(pass.unwrap().unwrap().done, 0);
    });
    world.poll().await;
    assert_eq!(world.psp.refund_orders().len(), 2, "the first order and one repeat");
    world.check().await;
}

#[tokio::test]
async fn refused_repeat_ends_refund_only_if_absent_upstream() {
    let (world, _) = processing(Sending::Silent).await;
    world.psp.set(Sending::Refuses);
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.status(), world.available()), (RefundStatus::Failed, 1_000));
    assert_eq!(world.event_types(), [EventType::ChargePaid, EventType::RefundFailed]);
    world.check().await;

    // The first order was accepted. The second one is refused for that reason.
    let (world, _) = processing(Sending::LosesReplies).await;
    world.psp.set_looking(Looking::Forgets);
    world.psp.set(Sending::Refuses);
    let psp = world.psp.clone();
    world.psp.when(Moment::Ordered, move || psp.set_looking(Looking::Tells));
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 0);
    assert_eq!((world.status(), world.in_transit()), (RefundStatus::Processing, 1_000));
    world.check().await;
}

#[tokio::test]
async fn unreachable_acquirer_leaves_refund_unchanged() {
    for looking in [Looking::Silent, Looking::Forgets] {
        let (world, _) = processing(Sending::Takes).await;
        world.psp.set_looking(looking);
        for returning in [Sending::Down, Sending::Silent] {
            world.psp.set(returning);
            world.clock.advance(LONG);
            assert_eq!(world.poll().await, 0);
            assert_eq!((world.status(), world.in_transit()), (RefundStatus::Processing, 1_000));
        }
        world.psp.set_looking(Looking::Tells);
        world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
        world.clock.advance(LONG);
        assert_eq!(world.poll().await, 1);
        world.check().await;
    }
}

#[tokio::test]
async fn record_with_other_amount_or_outcome_changes_nothing() {
    let (world, charge) = processing(Sending::Takes).await;
    let pix = world.charge(charge.id).state.settlement().unwrap().end_to_end_id.clone();
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    world.psp.change_payment(&pix, |payment| payment.returns[0].amount = Money::from_centavos(999));
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status()), (0, RefundStatus::Processing));
    world.psp.change_payment(&pix, |payment| payment.returns[0].amount = Money::from_centavos(1_000));
    world.clock.advance(LONG);
    assert_eq!((world.poll().await, world.status()), (1, RefundStatus::Completed));

    // The refund fails after the acquirer has reported its completion.
    world.psp.settle_refunds(&UpstreamProgress::Failed { reason: None });
    let looked = cais_use_cases::reconcile::run_once(&world.ports).await.unwrap();
    assert_eq!((looked.done, world.status(), world.available()), (0, RefundStatus::Completed, 0));
    assert_eq!(world.event_types().len(), 3);
    world.check().await;
}

#[tokio::test]
async fn refund_list_is_refreshed_once_per_second_or_stored() {
    let (world, charge) = processing(Sending::Takes).await;
    let (gate, name) = (SyncGate::new(), ChargeName::Id(charge.id));
    let read = || list(&world.ports, &gate, world.account.id, &name, FIRST_PAGE);
    let finds = world.psp.finds(OrderKind::Refund);
    assert_eq!(read().await.unwrap().rows[0].state.status(), RefundStatus::Processing);
    world.psp.settle_refunds(&UpstreamProgress::Done { at: None });
    assert_eq!(read().await.unwrap().rows[0].state.status(), RefundStatus::Processing);
    assert_eq!(world.psp.finds(OrderKind::Refund), finds + 1, "within the same second");
    world.clock.advance(Duration::from_secs(1));
    world.psp.set_looking(Looking::Silent);
    assert_eq!(read().await.unwrap().rows[0].state.status(), RefundStatus::Processing);
    world.psp.set_looking(Looking::Tells);
    world.clock.advance(Duration::from_secs(1));
    let page = read().await.unwrap();
    assert!(matches!(page.rows[0].state, RefundState::Completed { .. }));
    assert_eq!(page.rows[0], world.only_refund());
}

#[tokio::test]
async fn refund_list_has_visible_refunds_newest_first() {
    let world = World::new().await;
    let (charge, other) = (world.paid().await, world.paid().await);
    world.psp.set(Sending::Completes);
    for key in ["a", "b", "c"] {
        world.refund(key, &charge, part(100)).await.unwrap();
    }
    let foreign = crate::world::id_of(&world.refund("d", &other, part(100)).await.unwrap());
    world.psp.set(Sending::Down);
    world.refund("e", &charge, part(100)).await.unwrap_err();
    let gate = SyncGate::new();
    let name = ChargeName::Id(charge.id);
    let mut seen = Vec::new();
    let mut page = PageRequest { limit: 2, starting_after: None };
    loop {
        let rows = list(&world.ports, &gate, world.account.id, &name, page).await.unwrap();
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
        let refused = list(&world.ports, &gate, world.account.id, &name, page).await;
        assert_eq!(refused, Err(ListError::UnknownCursor.into()));
    }
    let stranger = list(&world.ports, &gate, cais_testkit::builders::fresh(), &name, FIRST_PAGE).await;
    assert_eq!(stranger, Err(FetchError::NotFound.into()));
}
