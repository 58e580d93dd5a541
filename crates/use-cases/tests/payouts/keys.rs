//! Idempotency keys: one payout per key, for all repeats at any time.

use cais_domain::merchant::account::{Account, AccountStatus, Feature, Features, NotPermitted};
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_ports::ResponseKind;
use cais_testkit::Crash;
use cais_testkit::psp::Sending;
use cais_use_cases::payouts::create::{CreatePayoutError, PayoutRefusal, create};

use crate::world::{FEE, FUNDS, LONG, PAST_LEASE, World, id_of, named, reais, status_of, ten_reais};

#[tokio::test]
async fn repeat_returns_first_response_byte_for_byte() {
    let world = World::new().await;
    let command = world.command("a", ten_reais());
    let first = create(&world.ports, command.clone()).await.unwrap();
    world.psp.complete();
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 1);

    world.psp.set_resting(true);
    world.second.set_resting(true);
    let again = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(
        (again.kind, &again.body),
        (ResponseKind::Created, &first.body),
        "the stored response, not the current payout"
    );
    assert_eq!(again.replay_of, Some(command.request));
    assert_eq!(world.create("a", reais(11)).await, Err(CreatePayoutError::KeyConflict));
    assert_eq!((world.psp.payout_orders().len(), world.store.payouts().len()), (1, 1));
    world.check().await;
}

#[tokio::test]
async fn key_of_unfinished_request_is_in_progress() {
    let world = World::new().await;
    world.store.crash_at(2, Crash::Before);
    let lost = world.create("a", ten_reais()).await;
    assert!(matches!(lost, Err(CreatePayoutError::Unavailable { retry_after_s: 1.. })), "{lost:?}");
    let repeat = world.create("a", ten_reais()).await;
    assert!(matches!(repeat, Err(CreatePayoutError::KeyInProgress { retry_after_s: 1.. })), "{repeat:?}");
    assert_eq!(world.create("a", reais(9)).await, Err(CreatePayoutError::KeyConflict), "also in progress");
    assert_eq!(world.psp.payout_orders().len(), 1);
    world.clock.advance(PAST_LEASE);
    assert_eq!(
        world.create("a", reais(9)).await,
        Err(CreatePayoutError::KeyConflict),
        "the conflict remains after the lease"
    );
}

#[tokio::test]
async fn repeat_of_abandoned_payout_retries_same_payout() {
    let world = World::new().await;
    world.psp.set(Sending::Down);
    for _ in 0..3 {
        let failed = world.create("a", named("order-1", ten_reais())).await;
        assert_eq!(failed, Err(CreatePayoutError::AcquirerUnavailable));
        world.untouched().await;
    }
    let given_up = world.only_payout();
    world.clock.advance(LONG);
    assert_eq!(world.resume().await, 0, "only the caller's repeat sends the payout again");

    // No acquirer is available, so no creation starts.
    world.psp.set_resting(true);
    world.second.set_resting(true);
    let failed = world.create("a", named("order-1", ten_reais())).await;
    assert_eq!(failed, Err(CreatePayoutError::AcquirerUnavailable));
    world.untouched().await;

    world.psp.set_resting(false);
    world.psp.set(Sending::Completes);
    let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    let payout = world.only_payout();
    assert_eq!((payout.id, payout.terms.fee), (given_up.id, Money::from_centavos(FEE)));
    assert!(world.psp.payout_orders().iter().all(|order| order.instruction_id == payout.instruction_id()));
    assert_eq!(world.read_external("order-1").await.unwrap().id, payout.id);
    assert_eq!((world.money(), world.psp.sent()), ((FUNDS - 1_000 - FEE, 0), 1));
    world.check().await;
}

#[tokio::test]
async fn abandoned_payout_may_go_to_another_acquirer_later() {
    let world = World::new().await;
    world.psp.set(Sending::Down);
    world.create("a", ten_reais()).await.unwrap_err();
    world.psp.set_resting(true);
    let answer = world.create("a", ten_reais()).await.unwrap();
    assert_eq!(answer.kind, ResponseKind::Created);
    assert_eq!((world.psp.sent(), world.second.sent()), (0, 1));
    assert_eq!(world.only_payout().state.acquirer(), &world.second.name);
    world.second.complete();
    world.clock.advance(LONG);
    assert_eq!(world.poll().await, 1);
    assert_eq!((world.left(&world.psp.name), world.left(&world.second.name)), (0, 1_000));
    world.check().await;
}

#[tokio::test]
async fn creation_without_available_acquirer_does_not_begin() {
    let world = World::new().await;
    world.psp.set_resting(true);
    world.second.set_resting(true);
    assert_eq!(world.create("a", ten_reais()).await, Err(CreatePayoutError::AcquirerUnavailable));
    assert_eq!((world.store.payouts(), world.store.idempotency_records()), (vec![], vec![]));
    world.untouched().await;
}

#[tokio::test]
async fn stored_answer_of_restricted_account_is_replayed() {
    let mut world = World::new().await;
    world.create("a", ten_reais()).await.unwrap();
    let account = world.account.clone();
    world.0.account = Account { status: AccountStatus::Suspended, ..account.clone() };
    let suspended = CreatePayoutError::NotPermitted(NotPermitted::Suspended);
    assert!(world.create("a", ten_reais()).await.unwrap().replay_of.is_some());
    assert_eq!(world.create("a", reais(11)).await, Err(CreatePayoutError::KeyConflict));
    assert_eq!(world.create("b", ten_reais()).await, Err(suspended));
    world.0.account = Account { features: Features::default().with(Feature::PixIn), ..account.clone() };
    let disabled = CreatePayoutError::NotPermitted(NotPermitted::FeatureDisabled(Feature::PixOut));
    assert!(world.create("a", ten_reais()).await.unwrap().replay_of.is_some());
    assert_eq!(world.create("b", ten_reais()).await, Err(disabled));
    world.0.account = account;
    assert!(world.create("a", ten_reais()).await.unwrap().replay_of.is_some());
    assert_eq!(world.psp.payout_orders().len(), 1);
}

#[tokio::test]
async fn begun_payout_is_finished_after_account_suspension() {
    let world = World::new().await;
    world.store.crash_at(2, Crash::Before);
    world.create("a", ten_reais()).await.unwrap_err();
    let stored = cais_ports::AccountQueries::find_account(&*world.store, world.account.id).await.unwrap().unwrap();
    let suspended = Account { status: AccountStatus::Suspended, ..stored };
    let write = cais_ports::Write::update(suspended);
    let change = cais_testkit::builders::steps::write(write, cais_testkit::builders::start());
    cais_ports::Store::commit(&*world.store, change).await.unwrap();
    world.clock.advance(PAST_LEASE);
    assert_eq!(world.resume().await, 1, "the payout was sent, and its money left the account");
    assert_eq!((world.status(), world.psp.sent()), (PayoutStatus::Processing, 1));
}

#[tokio::test]
async fn limit_is_checked_after_replay_and_before_creation() {
    let mut world = World::new().await;
    let answer = world.create("a", named("order-1", ten_reais())).await.unwrap();
    world.0.account.limits.payout = Money::from_centavos(999);
    let limit = world.account.limits.payout;
    let above = Err(CreatePayoutError::Refused(PayoutRefusal::TransactionLimit { limit }));
    assert_eq!(world.create("b", ten_reais()).await, above);
    assert_eq!(world.create("c", named("order-1", reais(11))).await, above, "before the conflict of names");
    assert_eq!(world.create("a", named("order-1", ten_reais())).await.unwrap().body, answer.body);
    let original = world.create("d", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((original.kind, id_of(&original)), (ResponseKind::Existing, id_of(&answer)));
    world.0.account.limits.payout = Money::from_centavos(500);
    assert_eq!(world.create("e", reais(5)).await.unwrap().kind, ResponseKind::Created, "the limit itself is within it");
}
