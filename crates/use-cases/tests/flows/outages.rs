//! Acquirers that are down, refuse, do not answer, or lose their replies.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::money::Money;
use cais_ports::{PageRequest, ReservationQueries as _, ResponseKind};
use cais_testkit::builders::an_account;
use cais_testkit::psp::{OrderKind, Sending};
use cais_use_cases::charges::create::{ChargeRefusal, CreateChargeError};
use cais_use_cases::charges::fetch::FetchError;
use cais_use_cases::charges::list;
use cais_use_cases::resume;

use crate::world::{World, id_of, named, ten_reais};

/// A time longer than every pause of a worker.
const LONG: Duration = Duration::from_mins(6);

async fn visible(world: &World) -> usize {
    let page = PageRequest { limit: 200, starting_after: None };
    list::list(&world.ports, world.account.id, page).await.unwrap().rows.len()
}

#[tokio::test]
async fn charge_not_accepted_by_any_acquirer_is_not_visible() {
    for mood in [Sending::Down, Sending::Refuses] {
        let world = World::with(an_account(), 2).await;
        world.psp.set_all(mood);
        world.second.set_all(mood);
        let failed = world.create("a", named("order-1", ten_reais())).await;

        assert_eq!(failed, Err(CreateChargeError::AcquirerUnavailable), "{mood:?}");
        assert_eq!(
            (world.psp.ordered(OrderKind::Charge), world.second.ordered(OrderKind::Charge)),
            (1, 1),
            "both received an order"
        );
        let charge = world.only_charge();
        assert_eq!(charge.state.status(), ChargeStatus::Abandoned);
        assert_eq!(visible(&world).await, 0);
        assert_eq!(world.read(charge.id).await, Err(FetchError::NotFound));
        assert_eq!(world.read_external("order-1").await, Err(FetchError::NotFound));
        assert_eq!(world.event_types(), []);
        world.check().await;
    }
}

#[tokio::test]
async fn repeat_of_abandoned_creation_retries_same_charge() {
    let world = World::new().await;
    world.psp.set_all(Sending::Down);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let abandoned = world.only_charge();
    // The acquirers are still down and none has the charge, so the response is the same.
    assert_eq!(world.create("a", named("order-1", ten_reais())).await, Err(CreateChargeError::AcquirerUnavailable));
    assert_eq!(world.read_external("order-1").await, Err(FetchError::NotFound));

    world.psp.set_all(Sending::Takes);
    world.clock.advance(LONG);
    let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(answer.kind, ResponseKind::Created);
    let charge = world.only_charge();
    assert_eq!((charge.id, &charge.txid), (abandoned.id, &abandoned.txid));
    assert_eq!(world.read_external("order-1").await.unwrap().id, charge.id);
    assert_eq!(world.psp.charges().len(), 1);
    world.check().await;
}

#[tokio::test]
async fn external_id_of_abandoned_charge_is_free() {
    let world = World::new().await;
    world.psp.set_all(Sending::Refuses);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    world.psp.set_all(Sending::Takes);
    let other = world.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created);

    // The first key creates no second charge. The external id already has a charge, so that charge becomes the stored
    // response of the key.
    let first = world.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((first.kind, id_of(&first)), (ResponseKind::Existing, id_of(&other)));
    world.psp.pay(&world.charge(id_of(&other)).txid, 1_000);
    world.read(id_of(&other)).await.unwrap();
    let again = world.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, &again.body), (ResponseKind::Existing, &first.body));
    assert!(again.replay_of.is_some());
    assert_eq!((visible(&world).await, world.psp.charges().len()), (1, 1));
    world.check().await;
}

#[tokio::test]
async fn abandoned_creation_is_checked_against_present_limit() {
    let mut world = World::new().await;
    world.psp.set_all(Sending::Down);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let abandoned = world.only_charge();
    world.psp.set_all(Sending::Takes);
    world.clock.advance(LONG);
    let old = world.account.clone();
    let limit = Money::from_centavos(999);
    world.0.account.limits.charge = limit;
    let over = Err(CreateChargeError::Refused(ChargeRefusal::TransactionLimit { limit }));
    assert_eq!(world.create("a", named("order-1", ten_reais())).await, over);
    assert_eq!((world.only_charge(), world.psp.charges().len()), (abandoned, 0), "the repeat created no charge");

    // A key keeps its stored response. An external id with a charge is the response to the key of the abandoned
    // creation.
    world.0.account = old;
    let made = world.create("b", named("order-1", ten_reais())).await.unwrap();
    world.0.account.limits.charge = limit;
    let again = world.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, &again.body, again.replay_of.is_some()), (ResponseKind::Created, &made.body, true));
    let named = world.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((named.kind, id_of(&named), world.psp.charges().len()), (ResponseKind::Existing, id_of(&made), 1));
    world.check().await;
}

#[tokio::test]
async fn creation_without_available_acquirer_does_not_begin() {
    let world = World::new().await;
    world.psp.set_resting(true);
    assert_eq!(world.create("a", ten_reais()).await, Err(CreateChargeError::AcquirerUnavailable));
    assert_eq!(world.store.charges(), []);
    world.psp.set_resting(false);
    assert_eq!(world.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn next_acquirer_gets_charge_that_first_did_not_accept() {
    let world = World::with(an_account(), 2).await;
    world.psp.set_all(Sending::Down);
    let answer = world.create("a", ten_reais()).await.unwrap();
    let charge = world.charge(id_of(&answer));
    assert_eq!(charge.state.acquirer().as_str(), "second");
    assert_eq!((world.psp.charges().len(), world.second.charges().len()), (0, 1));
}

#[tokio::test]
async fn abandoned_charge_may_go_to_another_acquirer_later() {
    let world = World::with(an_account(), 2).await;
    world.psp.set_all(Sending::Down);
    world.second.set_all(Sending::Down);
    world.create("a", ten_reais()).await.unwrap_err();
    world.second.set_all(Sending::Takes);
    assert_eq!(world.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((world.psp.charges().len(), world.second.charges().len()), (0, 1));
}

#[tokio::test]
async fn unknown_outcome_prevents_request_to_next_acquirer() {
    for mood in [Sending::Silent, Sending::LosesReplies] {
        let world = World::with(an_account(), 2).await;
        world.psp.set_all(mood);
        let lost = world.create("a", ten_reais()).await;
        assert!(matches!(lost, Err(CreateChargeError::Unavailable { retry_after_s: 1.. })), "{lost:?}");
        world.create("a", ten_reais()).await.unwrap_err();
        world.clock.advance(LONG);
        resume::run_once(&world.ports).await.unwrap();
        assert_eq!(world.second.ordered(OrderKind::Charge), 0, "{mood:?}");
        assert_eq!(visible(&world).await, 0);
    }
}

#[tokio::test]
async fn worker_finishes_creation_with_unknown_outcome() {
    for mood in [Sending::Silent, Sending::LosesReplies] {
        let world = World::new().await;
        world.psp.set_all(mood);
        world.create("a", named("order-1", ten_reais())).await.unwrap_err();
        let begun = world.only_charge();
        let hidden = world.read_external("order-1").await;
        assert!(matches!(hidden, Err(FetchError::InProgress { retry_after_s: 1.. })), "{hidden:?}");

        world.psp.set_all(Sending::Takes);
        world.clock.advance(LONG);
        let pass = resume::run_once(&world.ports).await.unwrap();
        assert_eq!(pass.done, 1, "{mood:?}");
        assert_eq!(world.status(begun.id), ChargeStatus::Pending);

        let repeat = world.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!((repeat.kind, id_of(&repeat)), (ResponseKind::Created, begun.id));
        assert!(repeat.replay_of.is_some(), "the worker has stored the response");
        assert_eq!(world.psp.charges().len(), 1);
        assert_eq!(resume::run_once(&world.ports).await.unwrap().done, 0, "a finished creation is not resumed");
        world.check().await;
    }
}

#[tokio::test]
async fn repeat_before_worker_finishes_creation() {
    let world = World::new().await;
    world.psp.set_all(Sending::LosesReplies);
    world.create("a", ten_reais()).await.unwrap_err();
    world.psp.set_all(Sending::Takes);
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, answer.replay_of), (ResponseKind::Created, None));
    world.clock.advance(LONG);
    assert_eq!(resume::run_once(&world.ports).await.unwrap().done, 0);
    assert_eq!(world.psp.charges().len(), 1);
}

#[tokio::test]
async fn unknown_outcome_that_proves_refused_is_abandoned() {
    let world = World::new().await;
    world.psp.set_all(Sending::Silent);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    world.psp.set_all(Sending::Refuses);
    assert_eq!(world.create("a", named("order-1", ten_reais())).await, Err(CreateChargeError::AcquirerUnavailable));
    assert_eq!(world.only_charge().state.status(), ChargeStatus::Abandoned);
    let key = cais_ports::ReservationKey::ChargeExternalId(
        world.account.id,
        cais_domain::external_id::ExternalId::parse("order-1").unwrap(),
    );
    assert_eq!(world.store.find_owner(&key).await.unwrap(), None);
}

#[tokio::test]
async fn unavailable_store_is_reported_and_recovers() {
    let world = World::new().await;
    world.store.set_unreachable(true);
    let down = world.create("a", ten_reais()).await;
    assert!(matches!(down, Err(CreateChargeError::Unavailable { retry_after_s: 1.. })), "{down:?}");
    assert_eq!(world.psp.ordered(OrderKind::Charge), 0, "no intent, no call");
    world.store.set_unreachable(false);
    assert_eq!(world.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn refusal_of_existing_charge_is_resolved_by_lookup() {
    let world = World::new().await;
    world.psp.set_all(Sending::LosesReplies);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let begun = world.only_charge();
    // The acquirer created the charge, and refuses a second one with the same txid.
    world.psp.set_all(Sending::Refuses);
    let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, begun.id));
    assert_eq!((world.status(begun.id), world.psp.charges().len()), (ChargeStatus::Pending, 1));
}
