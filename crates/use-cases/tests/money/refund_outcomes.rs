//! The response, the held money and the events of a refund, for each reply of the acquirer and for a lost reply.

use cais_domain::charge::{ChargeStatus, ChargeTerms};
use cais_domain::event::EventType;
use cais_domain::money::Money;
use cais_domain::refund::{RefundState, RefundStatus};
use cais_ports::ResponseKind;
use cais_testkit::builders::{a_postback, an_endpoint, terms};
use cais_testkit::psp::{Looking, Sending};
use cais_use_cases::refunds::create::{CreateRefundError, RefundRefusal};

use crate::world::{World, all, id_of, named, part, status_of};

#[tokio::test]
async fn accepted_refund_is_held_until_its_outcome() {
    for (returning, looking) in [
        (Sending::Takes, Looking::Tells),
        (Sending::LosesReplies, Looking::Tells),
        (Sending::LosesReplies, Looking::Silent),
        (Sending::Silent, Looking::Tells),
        (Sending::Silent, Looking::Silent),
        (Sending::Garbles, Looking::Silent),
    ] {
        let world = World::new().await;
        let charge = world.paid().await;
        world.psp.set(returning);
        world.psp.set_looking(looking);
        let answer = world.refund("a", &charge, part(400)).await.unwrap();
        assert_eq!(
            (answer.kind, status_of(&answer).as_str()),
            (ResponseKind::Created, "processing"),
            "{returning:?} {looking:?}"
        );
        assert_eq!((world.available(), world.in_transit()), (600, 400));
        assert_eq!(world.event_types(), [EventType::ChargePaid]);
        assert!(world.only_refund().due_at.is_some(), "the refund is polled");
        world.check().await;
    }
}

#[tokio::test]
async fn refund_completed_at_once_leaves_the_balance() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(Sending::Completes);
    let answer = world.refund("a", &charge, part(400)).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    assert_eq!((world.available(), world.in_transit()), (600, 0));
    assert!(world.only_refund().state.return_id().is_some());
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Paid, "a partial refund keeps the status");
    let rest = world.refund("b", &charge, all()).await.unwrap();
    assert_eq!(status_of(&rest), "completed");
    assert_eq!((world.available(), world.psp.returned()), (0, 1_000));
    assert_eq!(world.charge(charge.id).state.status(), ChargeStatus::Refunded);
    let events =
        [EventType::ChargePaid, EventType::RefundCompleted, EventType::RefundCompleted, EventType::ChargeRefunded];
    assert_eq!(world.event_types(), events);
    world.check().await;
}

#[tokio::test]
async fn refused_or_failed_refund_is_released_and_repeatable() {
    for returning in [Sending::Refuses, Sending::Fails] {
        let world = World::new().await;
        let charge = world.paid().await;
        world.psp.set(returning);
        let answer = world.refund("a", &charge, all()).await.unwrap();
        assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "failed"), "{returning:?}");
        assert_eq!((world.available(), world.in_transit(), world.psp.returned()), (1_000, 0, 0));
        assert_eq!(world.event_types(), [EventType::ChargePaid, EventType::RefundFailed]);
        let RefundState::Failed { reason, .. } = world.only_refund().state else { unreachable!() };
        assert!(!reason.contains('\0') && !reason.is_empty(), "{reason:?} can be stored and shown");

        world.psp.set(Sending::Completes);
        let again = world.refund("b", &charge, all()).await.unwrap();
        assert_eq!(status_of(&again), "completed");
        assert_eq!((world.available(), world.psp.returned()), (0, 1_000));
        world.check().await;
    }
}

#[tokio::test]
async fn refund_not_accepted_leaves_no_trace() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(Sending::Down);
    let refused = world.refund("a", &charge, named("back-1", all())).await;
    assert_eq!(refused, Err(CreateRefundError::AcquirerUnavailable));
    assert_eq!((world.available(), world.in_transit(), world.status()), (1_000, 0, RefundStatus::Abandoned));
    assert_eq!(world.event_types(), [EventType::ChargePaid]);
    assert_eq!(world.resume().await, 0, "only the caller's repeat sends the refund again");

    let abandoned = world.only_refund().id;
    world.psp.set(Sending::Completes);
    let resumed = world.refund("a", &charge, named("back-1", all())).await.unwrap();
    assert_eq!(
        (resumed.kind, id_of(&resumed)),
        (ResponseKind::Created, abandoned),
        "the same refund with the same external id"
    );
    assert_eq!((world.available(), world.psp.returned()), (0, 1_000));
    world.check().await;
}

#[tokio::test]
async fn abandoned_refund_frees_its_external_id_and_amount() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(Sending::Down);
    world.refund("a", &charge, named("back-1", part(600))).await.unwrap_err();
    world.psp.set(Sending::Completes);
    let other = world.refund("b", &charge, named("back-2", part(600))).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created);

    let late = world.refund("a", &charge, named("back-1", part(600))).await;
    let rest = cais_domain::money::Money::from_centavos(400);
    assert_eq!(
        late,
        Err(CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest })),
        "the charge has only 400 centavos left to refund"
    );
    assert_eq!((world.available(), world.psp.returned()), (400, 600));
    world.check().await;
}

#[tokio::test]
async fn repeat_of_abandoned_refund_returns_new_owner_of_its_id() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(Sending::Down);
    world.refund("a", &charge, named("back-1", part(300))).await.unwrap_err();
    world.psp.set(Sending::Completes);
    let owner = world.refund("b", &charge, named("back-1", part(300))).await.unwrap();
    for replayed in [false, true] {
        let late = world.refund("a", &charge, named("back-1", part(300))).await.unwrap();
        assert_eq!((late.kind, id_of(&late)), (ResponseKind::Existing, id_of(&owner)));
        assert_eq!(late.replay_of.is_some(), replayed);
    }
    assert_eq!(world.psp.returned(), 300);

    // The response is also replayed if no amount is left for another attempt.
    world.psp.set(Sending::Down);
    world.refund("c", &charge, named("back-2", part(700))).await.unwrap_err();
    world.psp.set(Sending::Completes);
    let owner = world.refund("d", &charge, named("back-2", part(700))).await.unwrap();
    let late = world.refund("c", &charge, named("back-2", part(700))).await.unwrap();
    assert_eq!((late.kind, id_of(&late)), (ResponseKind::Existing, id_of(&owner)));
    world.check().await;
}

#[tokio::test]
async fn repeat_of_abandoned_refund_without_balance_is_refused() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.psp.set(Sending::Down);
    world.refund("a", &charge, named("back-1", all())).await.unwrap_err();
    world.spend_all_but(500).await;
    world.psp.set(Sending::Completes);
    let refused = world.refund("a", &charge, named("back-1", all())).await.unwrap();
    assert_eq!(refused.kind, ResponseKind::InsufficientBalance);
    world.give(500).await;
    let again = world.refund("a", &charge, named("back-1", all())).await.unwrap();
    assert_eq!(
        (again.kind, &again.body, again.replay_of.is_some()),
        (ResponseKind::InsufficientBalance, &refused.body, true)
    );
    assert_eq!(world.refund("b", &charge, named("back-1", all())).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((world.available(), world.psp.returned()), (0, 1_000));
}

#[tokio::test]
async fn postback_gets_charge_events_and_no_refund_events() {
    let world = World::new().await;
    let postback = a_postback(&an_endpoint(world.account.id, 0));
    let charge = world.waiting(ChargeTerms { postback: Some(postback.clone()), fee: Money::ZERO, ..terms() }).await;
    world.psp.pay(&charge.txid, 1_000);
    let charge = world.read(&charge).await;
    world.psp.set(Sending::Completes);
    world.refund("a", &charge, all()).await.unwrap();
    let events = world.store.events(world.account.id);
    let named: Vec<_> = events.iter().map(|stored| (stored.event.kind, stored.event.postback.as_ref())).collect();
    let expected = [
        (EventType::ChargePaid, Some(&postback)),
        (EventType::RefundCompleted, None),
        (EventType::ChargeRefunded, Some(&postback)),
    ];
    assert_eq!(named, expected);
}
