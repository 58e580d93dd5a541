//! Idempotency keys: one payout per key, for all repeats at any time.

use cais_domain::merchant::account::{Account, AccountStatus, Feature, Features, NotPermitted};
use cais_domain::money::Money;
use cais_domain::payout::PayoutStatus;
use cais_ports::ResponseKind;
use cais_testkit::Crash;
use cais_testkit::psp::OrderReply;
use cais_use_cases::payouts::create::{CreatePayoutError, PayoutRefusal, create};

use crate::bed::{FEE, FUNDS, LONG, PAST_LEASE, TestBed, id_of, named, reais, status_of, ten_reais};

#[tokio::test]
async fn repeat_returns_first_response_byte_for_byte() {
    let bed = TestBed::new().await;
    let command = bed.command("a", ten_reais());
    let first = create(&bed.ports, command.clone()).await.unwrap();
    bed.psp.complete();
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);

    bed.psp.set_breaker_open(true);
    bed.second.set_breaker_open(true);
    let again = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(
        (again.kind, &again.body),
        (ResponseKind::Created, &first.body),
        "the stored response, not the current payout"
    );
    assert_eq!(again.replay_of, Some(command.request));
    assert_eq!(bed.create("a", reais(11)).await, Err(CreatePayoutError::KeyConflict));
    assert_eq!((bed.psp.payout_orders().len(), bed.store.payouts().len()), (1, 1));
    bed.check().await;
}

#[tokio::test]
async fn key_of_unfinished_request_is_in_progress() {
    let bed = TestBed::new().await;
    bed.store.crash_at(2, Crash::Before);
    let lost = bed.create("a", ten_reais()).await;
    assert!(matches!(lost, Err(CreatePayoutError::Unavailable { retry_after_s: 1.. })), "{lost:?}");
    let repeat = bed.create("a", ten_reais()).await;
    assert!(matches!(repeat, Err(CreatePayoutError::KeyInProgress { retry_after_s: 1.. })), "{repeat:?}");
    assert_eq!(bed.create("a", reais(9)).await, Err(CreatePayoutError::KeyConflict), "also in progress");
    assert_eq!(bed.psp.payout_orders().len(), 1);
    bed.clock.advance(PAST_LEASE);
    assert_eq!(
        bed.create("a", reais(9)).await,
        Err(CreatePayoutError::KeyConflict),
        "the conflict remains after the lease"
    );
}

#[tokio::test]
async fn repeat_of_abandoned_payout_retries_same_payout() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    for _ in 0..3 {
        let failed = bed.create("a", named("order-1", ten_reais())).await;
        assert_eq!(failed, Err(CreatePayoutError::AcquirerUnavailable));
        bed.untouched().await;
    }
    let given_up = bed.only_payout();
    bed.clock.advance(LONG);
    assert_eq!(bed.resume().await, 0, "only the caller's repeat sends the payout again");

    // No acquirer is available, so no creation starts.
    bed.psp.set_breaker_open(true);
    bed.second.set_breaker_open(true);
    let failed = bed.create("a", named("order-1", ten_reais())).await;
    assert_eq!(failed, Err(CreatePayoutError::AcquirerUnavailable));
    bed.untouched().await;

    bed.psp.set_breaker_open(false);
    bed.psp.set(OrderReply::Completes);
    let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((answer.kind, status_of(&answer).as_str()), (ResponseKind::Created, "completed"));
    let payout = bed.only_payout();
    assert_eq!((payout.id, payout.terms.fee), (given_up.id, Money::from_centavos(FEE)));
    assert!(bed.psp.payout_orders().iter().all(|order| order.instruction_id == payout.instruction_id()));
    assert_eq!(bed.read_external("order-1").await.unwrap().id, payout.id);
    assert_eq!((bed.money(), bed.psp.sent()), ((FUNDS - 1_000 - FEE, 0), 1));
    bed.check().await;
}

#[tokio::test]
async fn abandoned_payout_may_go_to_another_acquirer_later() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.psp.set_breaker_open(true);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!(answer.kind, ResponseKind::Created);
    assert_eq!((bed.psp.sent(), bed.second.sent()), (0, 1));
    assert_eq!(bed.only_payout().state.acquirer(), &bed.second.name);
    bed.second.complete();
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);
    assert_eq!((bed.left(&bed.psp.name), bed.left(&bed.second.name)), (0, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn creation_without_available_acquirer_does_not_begin() {
    let bed = TestBed::new().await;
    bed.psp.set_breaker_open(true);
    bed.second.set_breaker_open(true);
    assert_eq!(bed.create("a", ten_reais()).await, Err(CreatePayoutError::AcquirerUnavailable));
    assert_eq!((bed.store.payouts(), bed.store.idempotency_records()), (vec![], vec![]));
    bed.untouched().await;
}

#[tokio::test]
async fn stored_answer_of_restricted_account_is_replayed() {
    let mut bed = TestBed::new().await;
    bed.create("a", ten_reais()).await.unwrap();
    let account = bed.account.clone();
    bed.0.account = Account { status: AccountStatus::Suspended, ..account.clone() };
    let suspended = CreatePayoutError::NotPermitted(NotPermitted::Suspended);
    assert!(bed.create("a", ten_reais()).await.unwrap().replay_of.is_some());
    assert_eq!(bed.create("a", reais(11)).await, Err(CreatePayoutError::KeyConflict));
    assert_eq!(bed.create("b", ten_reais()).await, Err(suspended));
    bed.0.account = Account { features: Features::default().with(Feature::PixIn), ..account.clone() };
    let disabled = CreatePayoutError::NotPermitted(NotPermitted::FeatureDisabled(Feature::PixOut));
    assert!(bed.create("a", ten_reais()).await.unwrap().replay_of.is_some());
    assert_eq!(bed.create("b", ten_reais()).await, Err(disabled));
    bed.0.account = account;
    assert!(bed.create("a", ten_reais()).await.unwrap().replay_of.is_some());
    assert_eq!(bed.psp.payout_orders().len(), 1);
}

#[tokio::test]
async fn begun_payout_is_finished_after_account_suspension() {
    let bed = TestBed::new().await;
    bed.store.crash_at(2, Crash::Before);
    bed.create("a", ten_reais()).await.unwrap_err();
    let stored = cais_ports::AccountQueries::find_account(&*bed.store, bed.account.id).await.unwrap().unwrap();
    let suspended = Account { status: AccountStatus::Suspended, ..stored };
    let write = cais_ports::Write::update(suspended);
    let change = cais_testkit::builders::steps::write(write, cais_testkit::builders::start());
    cais_ports::Store::commit(&*bed.store, change).await.unwrap();
    bed.clock.advance(PAST_LEASE);
    assert_eq!(bed.resume().await, 1, "the payout was sent, and its money left the account");
    assert_eq!((bed.status(), bed.psp.sent()), (PayoutStatus::Processing, 1));
}

#[tokio::test]
async fn limit_is_checked_after_replay_and_before_creation() {
    let mut bed = TestBed::new().await;
    let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    bed.0.account.limits.payout = Money::from_centavos(999);
    let limit = bed.account.limits.payout;
    let above = Err(CreatePayoutError::Refused(PayoutRefusal::TransactionLimit { limit }));
    assert_eq!(bed.create("b", ten_reais()).await, above);
    assert_eq!(bed.create("c", named("order-1", reais(11))).await, above, "before the conflict of names");
    assert_eq!(bed.create("a", named("order-1", ten_reais())).await.unwrap().body, answer.body);
    let original = bed.create("d", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((original.kind, id_of(&original)), (ResponseKind::Existing, id_of(&answer)));
    bed.0.account.limits.payout = Money::from_centavos(500);
    assert_eq!(bed.create("e", reais(5)).await.unwrap().kind, ResponseKind::Created, "the limit itself is within it");
}
