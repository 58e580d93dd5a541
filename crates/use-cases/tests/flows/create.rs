//! Creation of a charge, repeats of the request, and requests with a used key.

use cais_ports::ResponseKind;
use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::txid::Txid;
use cais_testkit::Crash;
use cais_testkit::psp::OrderKind;
use cais_use_cases::charges::create::CreateChargeError;

use crate::bed::{PAST_LEASE, TestBed, id_of, reais, ten_reais};

#[tokio::test]
async fn charge_is_created_upstream_and_returned() {
    let bed = TestBed::new().await;
    let before = bed.store.commits();
    let answer = bed.create("a", ten_reais()).await.unwrap();

    assert_eq!((answer.kind, answer.replay_of), (ResponseKind::Created, None));
    assert_eq!(bed.store.commits() - before, 2, "intent and outcome");
    let charge = bed.only_charge();
    assert_eq!(charge.id, id_of(&answer));
    assert_eq!(charge.txid, Txid::of_charge(charge.id));
    assert_eq!(charge.state.status(), ChargeStatus::Pending);
    assert_eq!((bed.psp.ordered(OrderKind::Charge), bed.psp.charges().len()), (1, 1));
    assert_eq!(bed.event_types(), [], "a creation is no event");
    bed.check().await;
}

#[tokio::test]
async fn repeat_returns_first_response_byte_for_byte() {
    let bed = TestBed::new().await;
    let command = bed.command("a", ten_reais());
    let first = cais_use_cases::charges::create::create(&bed.ports, command.clone()).await.unwrap();
    let charge = bed.only_charge();
    bed.psp.pay(&charge.txid, 1_000);
    assert_eq!(bed.read(charge.id).await.unwrap().state.status(), ChargeStatus::Paid);

    let again = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(
        (again.kind, &again.body),
        (ResponseKind::Created, &first.body),
        "the stored response, not the current charge"
    );
    assert_eq!(again.replay_of, Some(command.request));
    assert_eq!(bed.psp.ordered(OrderKind::Charge), 1);
}

#[tokio::test]
async fn repeat_without_acquirer_returns_stored_response() {
    let bed = TestBed::new().await;
    let first = bed.create("a", ten_reais()).await.unwrap();
    bed.psp.set_breaker_open(true);
    let again = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(again.body, first.body);
}

#[tokio::test]
async fn different_request_with_used_key_conflicts() {
    let bed = TestBed::new().await;
    bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(bed.create("a", reais(11)).await, Err(CreateChargeError::KeyConflict));
    assert_eq!(bed.psp.charges().len(), 1);
}

#[tokio::test]
async fn key_of_unfinished_request_is_in_progress() {
    let bed = TestBed::new().await;
    bed.store.crash_at(2, Crash::Before);
    bed.create("a", ten_reais()).await.unwrap_err();

    let repeat = bed.create("a", ten_reais()).await;
    assert!(matches!(repeat, Err(CreateChargeError::KeyInProgress { retry_after_s: 1.. })), "{repeat:?}");
    assert_eq!(bed.create("a", reais(11)).await, Err(CreateChargeError::KeyConflict), "also in progress");
    assert_eq!(bed.psp.ordered(OrderKind::Charge), 1);
    // A request is answered within 10 s. A process that has held the key for longer has crashed, so its lease must end
    // first.
    bed.clock.advance(Duration::from_secs(12));
    let repeat = bed.create("a", ten_reais()).await;
    assert!(matches!(repeat, Err(CreateChargeError::KeyInProgress { retry_after_s: 15..=20 })), "{repeat:?}");

    bed.clock.advance(PAST_LEASE);
    assert_eq!(
        bed.create("a", reais(11)).await,
        Err(CreateChargeError::KeyConflict),
        "the conflict remains after the lease"
    );
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn keys_of_different_accounts_are_different_keys() {
    let bed = TestBed::new().await;
    let first = bed.create("a", ten_reais()).await.unwrap();
    let other = cais_testkit::builders::an_account();
    cais_ports::Store::commit(&*bed.store, cais_testkit::builders::steps::open_account(&other)).await.unwrap();
    let mut command = bed.command("a", reais(11));
    command.account = other;
    let second = cais_use_cases::charges::create::create(&bed.ports, command).await.unwrap();
    assert_ne!(id_of(&first), id_of(&second));
}
