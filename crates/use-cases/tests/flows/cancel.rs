//! Cancellation: at the acquirer first, repeatable, and never after a payment.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::event::EventType;
use cais_domain::merchant::account::{Account, AccountStatus, NotPermitted};
use cais_testkit::builders::{an_account, fresh};
use cais_testkit::psp::Sending;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::cancel::{CancelChargeError, cancel};
use cais_use_cases::charges::fetch::FetchError;

use crate::world::{World, named, ten_reais};

async fn cancelled(world: &World, charge: &Charge) -> Result<ChargeStatus, CancelChargeError> {
    let after = cancel(&world.ports, &world.account, &ChargeName::Id(charge.id)).await?;
    assert_eq!(after, world.charge(charge.id), "the result equals the stored charge");
    Ok(after.state.status())
}

#[tokio::test]
async fn repeated_cancellation_leaves_charge_cancelled() {
    let world = World::new().await;
    let charge = world.pending().await;
    for _ in 0..3 {
        assert_eq!(cancelled(&world, &charge).await, Ok(ChargeStatus::Cancelled));
    }
    assert_eq!(world.event_types(), [EventType::ChargeCancelled]);
    world.check().await;
}

#[tokio::test]
async fn payment_before_cancellation_wins() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 1_000);
    let refused = cancelled(&world, &charge).await;
    assert_eq!(refused, Err(CancelChargeError::InvalidState(ChargeStatus::Paid)));
    assert_eq!((world.status(charge.id), world.available()), (ChargeStatus::Paid, 1_000));
    assert_eq!(world.event_types(), [EventType::ChargePaid]);
}

#[tokio::test]
async fn ended_charge_cannot_be_cancelled() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.clock.advance(Duration::from_hours(2));
    let refused = cancelled(&world, &charge).await;
    assert_eq!(refused, Err(CancelChargeError::InvalidState(ChargeStatus::Expired)));
    assert_eq!(cancelled(&world, &charge).await, refused);
}

#[tokio::test]
async fn cancellation_failed_upstream_leaves_charge_pending() {
    let world = World::new().await;
    let charge = world.pending().await;
    for (mood, certain) in [(Sending::Down, true), (Sending::Refuses, true), (Sending::Silent, false)] {
        world.psp.set_all(mood);
        let refused = cancelled(&world, &charge).await.unwrap_err();
        assert_eq!(refused == CancelChargeError::AcquirerUnavailable, certain, "{mood:?}: {refused}");
        assert_eq!(
            matches!(refused, CancelChargeError::Fetch(FetchError::Unavailable { retry_after_s: 1.. })),
            !certain
        );
        assert_eq!(world.status(charge.id), ChargeStatus::Pending);
    }
    world.psp.set_all(Sending::LosesReplies);
    cancelled(&world, &charge).await.unwrap_err();
    world.psp.set_all(Sending::Takes);
    assert_eq!(cancelled(&world, &charge).await, Ok(ChargeStatus::Cancelled), "a repeat returns the outcome");
}

#[tokio::test]
async fn cancellation_with_lost_reply_is_visible_to_readers() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.set_all(Sending::LosesReplies);
    cancelled(&world, &charge).await.unwrap_err();
    world.psp.set_all(Sending::Takes);
    assert_eq!(world.read(charge.id).await.unwrap().state.status(), ChargeStatus::Cancelled);
}

#[tokio::test]
async fn cancellation_requires_own_active_account() {
    let world = World::new().await;
    let charge = world.pending().await;
    let name = ChargeName::Id(charge.id);
    let stranger = an_account();
    assert_eq!(cancel(&world.ports, &stranger, &name).await, Err(CancelChargeError::Fetch(FetchError::NotFound)));
    let suspended = Account { status: AccountStatus::Suspended, ..world.account.clone() };
    let refused = cancel(&world.ports, &suspended, &name).await;
    assert_eq!(refused, Err(CancelChargeError::NotPermitted(NotPermitted::Suspended)));
    let nothing = cancel(&world.ports, &world.account, &ChargeName::Id(fresh())).await;
    assert_eq!(nothing, Err(CancelChargeError::Fetch(FetchError::NotFound)));
    assert_eq!(world.status(charge.id), ChargeStatus::Pending);
}

#[tokio::test]
async fn cancellation_during_creation_is_in_progress() {
    let world = World::new().await;
    world.psp.set_all(Sending::Silent);
    let terms = named("order-1", ten_reais());
    let external_id = terms.external_id.clone().unwrap();
    world.create("a", terms).await.unwrap_err();
    let by_name = cancel(&world.ports, &world.account, &ChargeName::External(external_id)).await;
    assert!(matches!(by_name, Err(CancelChargeError::Fetch(FetchError::InProgress { .. }))), "{by_name:?}");
    let by_id = cancel(&world.ports, &world.account, &ChargeName::Id(world.only_charge().id)).await;
    assert_eq!(by_id, Err(CancelChargeError::Fetch(FetchError::NotFound)));
}
