//! Creation of a charge, repeats of the request, and requests with a used key.

use cais_ports::ResponseKind;
use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::txid::Txid;
use cais_testkit::Crash;
use cais_testkit::psp::OrderKind;
use cais_use_cases::charges::create::CreateChargeError;

use crate::world::{PAST_LEASE, World, id_of, reais, ten_reais};

#[tokio::test]
async fn charge_is_created_upstream_and_returned() {
    let world = World::new().await;
    let before = world.store.commits();
    let answer = world.create("a", ten_reais()).await.unwrap();

    assert_eq!((answer.kind, answer.replay_of), (ResponseKind::Created, None));
    assert_eq!(world.store.commits() - before, 2, "intent and outcome");
    let charge = world.only_charge();
    assert_eq!(charge.id, id_of(&answer));
    assert_eq!(charge.txid, Txid::of_charge(charge.id));
    assert_eq!(charge.state.status(), ChargeStatus::Pending);
    assert_eq!((world.psp.ordered(OrderKind::Charge), world.psp.charges().len()), (1, 1));
    assert_eq!(world.event_types(), [], "a creation is no event");
    world.check().await;
}

#[tokio::test]
async fn repeat_returns_first_response_byte_for_byte() {
    let world = World::new().await;
    let command = world.command("a", ten_reais());
    let first = cais_use_cases::charges::create::create(&world.ports, command.clone()).await.unwrap();
    let charge = world.only_charge();
    world.psp.pay(&charge.txid, 1_000);
    assert_eq!(world.read(charge.id).await.unwrap().state.status(), ChargeStatus::Paid);

    let again = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(
        (again.kind, &again.body),
        (ResponseKind::Created, &first.body),
        "the stored response, not the current charge"
    );
    assert_eq!(again.replay_of, Some(command.request));
    assert_eq!(world.psp.ordered(OrderKind::Charge), 1);
}

#[tokio::test]
async fn repeat_without_acquirer_returns_stored_response() {
    let world = World::new().await;
    let first = world.create("a", ten_reais()).await.unwrap();
    world.psp.set_resting(true);
    let again = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(again.body, first.body);
}

#[tokio::test]
async fn different_request_with_used_key_conflicts() {
    let world = World::new().await;
    world.create("a", ten_reais()).await.unwrap();
    assert_eq!(world.create("a", reais(11)).await, Err(CreateChargeError::KeyConflict));
    assert_eq!(world.psp.charges().len(), 1);
}

#[tokio::test]
async fn key_of_unfinished_request_is_in_progress() {
    let world = World::new().await;
    world.store.crash_at(2, Crash::Before);
    world.create("a", ten_reais()).await.unwrap_err();

    let repeat = world.create("a", ten_reais()).await;
    assert!(matches!(repeat, Err(CreateChargeError::KeyInProgress { retry_after_s: 1.. })), "{repeat:?}");
    assert_eq!(world.create("a", reais(11)).await, Err(CreateChargeError::KeyConflict), "also in progress");
    assert_eq!(world.psp.ordered(OrderKind::Charge), 1);
    // A request is answered within 10 s. A process that has held the key for longer has crashed, so its lease must end
    // first.
    world.clock.advance(Duration::from_secs(12));
    let repeat = world.create("a", ten_reais()).await;
    assert!(matches!(repeat, Err(CreateChargeError::KeyInProgress { retry_after_s: 15..=20 })), "{repeat:?}");

    world.clock.advance(PAST_LEASE);
    assert_eq!(
        world.create("a", reais(11)).await,
        Err(CreateChargeError::KeyConflict),
        "the conflict remains after the lease"
    );
    assert_eq!(world.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn keys_of_different_accounts_are_different_keys() {
    let world = World::new().await;
    let first = world.create("a", ten_reais()).await.unwrap();
    let other = cais_testkit::builders::an_account();
    cais_ports::Store::commit(&*world.store, cais_testkit::builders::steps::open_account(&other)).await.unwrap();
    let mut command = world.command("a", reais(11));
    command.account = other;
    let second = cais_use_cases::charges::create::create(&world.ports, command).await.unwrap();
    assert_ne!(id_of(&first), id_of(&second));
}
