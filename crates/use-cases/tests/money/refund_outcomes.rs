//! The response, the held money and the events of a refund, for each reply of the acquirer and for a lost reply.

use cais_domain::charge::{ChargeStatus, ChargeTerms};
use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::refund::{RefundState, RefundStatus};
use cais_ports::ResponseKind;
use cais_testkit::builders::{a_postback, an_endpoint, terms};
use cais_testkit::psp::{LookupReply, OrderReply};
use cais_use_cases::refunds::create::{CreateRefundError, RefundRefusal};

use crate::bed::{TestBed, all, id_of, named, part, status_of};

#[tokio::test]
async fn accepted_refund_is_held_until_its_outcome() {
    for (returning, lookup_reply) in [
        (OrderReply::Accepts, LookupReply::Accurate),
        (OrderReply::LosesReplies, LookupReply::Accurate),
        (OrderReply::LosesReplies, LookupReply::Silent),
        (OrderReply::Silent, LookupReply::Accurate),
        (OrderReply::Silent, LookupReply::Silent),
        (OrderReply::WrongAmount, LookupReply::Silent),
    ] {
        let bed = TestBed::new().await;
        let charge = bed.paid().await;
        bed.psp.set(returning);
        bed.psp.set_lookup_reply(lookup_reply);
        let answer = bed.refund("a", &charge, part(400)).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str()),
            (ResponseKind::Created, "processing"),
            "{returning:?} {lookup_reply:?}"
        );
        assert_eq!((bed.available(), bed.in_transit()), (600, 400));
        assert_eq!(bed.event_types(), [EventType::ChargePaid]);
        assert!(bed.only_refund().due_at.is_some(), "the refund is polled");
        bed.check().await;
    }
}

#[tokio::test]
async fn refund_completed_at_once_leaves_the_balance() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Completes);
    let answer = bed.refund("a", &charge, part(400)).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    assert_eq!((bed.available(), bed.in_transit()), (600, 0));
    assert!(bed.only_refund().state.return_id().is_some());
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Paid, "a partial refund keeps the status");
    let rest = bed.refund("b", &charge, all()).await.unwrap();
    assert_eq!(status_of(&rest), "completed");
    assert_eq!((bed.available(), bed.psp.returned()), (0, 1_000));
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    let events =
        [EventType::ChargePaid, EventType::RefundCompleted, EventType::RefundCompleted, EventType::ChargeRefunded];
    assert_eq!(bed.event_types(), events);
    bed.check().await;
}

#[tokio::test]
async fn refused_or_failed_refund_is_released_and_repeatable() {
    for returning in [OrderReply::Refuses, OrderReply::Fails] {
        let bed = TestBed::new().await;
        let charge = bed.paid().await;
        bed.psp.set(returning);
        let answer = bed.refund("a", &charge, all()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"), "{returning:?}");
        assert_eq!((bed.available(), bed.in_transit(), bed.psp.returned()), (1_000, 0, 0));
        assert_eq!(bed.event_types(), [EventType::ChargePaid, EventType::RefundFailed]);
        let RefundState::Failed { reason, .. } = bed.only_refund().state else { unreachable!() };
        assert!(!reason.contains('\0') && !reason.is_empty(), "{reason:?} can be stored and shown");

        bed.psp.set(OrderReply::Completes);
        let again = bed.refund("b", &charge, all()).await.unwrap();
        assert_eq!(status_of(&again), "completed");
        assert_eq!((bed.available(), bed.psp.returned()), (0, 1_000));
        bed.check().await;
    }
}

#[tokio::test]
async fn refund_not_accepted_leaves_no_trace() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Down);
    let refused = bed.refund("a", &charge, named("back-1", all())).await;
    assert_eq!(refused, Err(CreateRefundError::AcquirerUnavailable));
    assert_eq!((bed.available(), bed.in_transit(), bed.status()), (1_000, 0, RefundStatus::Abandoned));
    assert_eq!(bed.event_types(), [EventType::ChargePaid]);
    assert_eq!(bed.resume().await, 0, "only the caller's repeat sends the refund again");

    let abandoned = bed.only_refund().id;
    bed.psp.set(OrderReply::Completes);
    let resumed = bed.refund("a", &charge, named("back-1", all())).await.unwrap();
    assert_eq!(
        (resumed.kind, id_of(&resumed)),
        (ResponseKind::Created, abandoned),
        "the same refund with the same external id"
    );
    assert_eq!((bed.available(), bed.psp.returned()), (0, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn abandoned_refund_frees_its_external_id_and_amount() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Down);
    bed.refund("a", &charge, named("back-1", part(600))).await.unwrap_err();
    bed.psp.set(OrderReply::Completes);
    let other = bed.refund("b", &charge, named("back-2", part(600))).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created);

    let late = bed.refund("a", &charge, named("back-1", part(600))).await;
    let rest = cais_domain::money::Money::from_centavos(400);
    assert_eq!(
        late,
        Err(CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest })),
        "the charge has only 400 centavos left to refund"
    );
    assert_eq!((bed.available(), bed.psp.returned()), (400, 600));
    bed.check().await;
}

#[tokio::test]
async fn repeat_of_abandoned_refund_returns_new_owner_of_its_id() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Down);
    bed.refund("a", &charge, named("back-1", part(300))).await.unwrap_err();
    bed.psp.set(OrderReply::Completes);
    let owner = bed.refund("b", &charge, named("back-1", part(300))).await.unwrap();
    for replayed in [false, true] {
        let late = bed.refund("a", &charge, named("back-1", part(300))).await.unwrap();
        assert_eq!((late.kind, id_of(&late)), (ResponseKind::Existing, id_of(&owner)));
        assert_eq!(late.replay_of.is_some(), replayed);
    }
    assert_eq!(bed.psp.returned(), 300);

    // The response is also replayed if no amount is left for another attempt.
    bed.psp.set(OrderReply::Down);
    bed.refund("c", &charge, named("back-2", part(700))).await.unwrap_err();
    bed.psp.set(OrderReply::Completes);
    let owner = bed.refund("d", &charge, named("back-2", part(700))).await.unwrap();
    let late = bed.refund("c", &charge, named("back-2", part(700))).await.unwrap();
    assert_eq!((late.kind, id_of(&late)), (ResponseKind::Existing, id_of(&owner)));
    bed.check().await;
}

#[tokio::test]
async fn repeat_of_abandoned_refund_without_balance_is_refused() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Down);
    bed.refund("a", &charge, named("back-1", all())).await.unwrap_err();
    bed.set_available(500).await;
    bed.psp.set(OrderReply::Completes);
    let refused = bed.refund("a", &charge, named("back-1", all())).await.unwrap();
    assert_eq!(refused.kind, ResponseKind::InsufficientBalance);
    bed.adjust_available(500).await;
    let again = bed.refund("a", &charge, named("back-1", all())).await.unwrap();
    assert_eq!(
        (again.kind, &again.body, again.replay_of.is_some()),
        (ResponseKind::InsufficientBalance, &refused.body, true)
    );
    assert_eq!(bed.refund("b", &charge, named("back-1", all())).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((bed.available(), bed.psp.returned()), (0, 1_000));
}

#[tokio::test]
async fn postback_gets_charge_events_and_no_refund_events() {
    let bed = TestBed::new().await;
    let postback = a_postback(&an_endpoint(bed.account.id, 0));
    let charge = bed.pending_with(ChargeTerms { postback: Some(postback.clone()), fee: Money::ZERO, ..terms() }).await;
    bed.psp.pay(&charge.txid, 1_000);
    let charge = bed.read(&charge).await;
    bed.psp.set(OrderReply::Completes);
    bed.refund("a", &charge, all()).await.unwrap();
    let events = bed.store.events(bed.account.id);
    let named: Vec<_> = events.iter().map(|stored| (stored.event.kind, stored.event.postback.as_ref())).collect();
    let expected = [
        (EventType::ChargePaid, Some(&postback)),
        (EventType::RefundCompleted, None),
        (EventType::ChargeRefunded, Some(&postback)),
    ];
    assert_eq!(named, expected);
}
