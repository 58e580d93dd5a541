//! Acquirers that are down, refuse, do not answer, or lose their replies.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::money::Money;
use cais_ports::{PageRequest, ReservationQueries as _, ResponseKind};
use cais_testkit::builders::an_account;
use cais_testkit::psp::{OrderKind, OrderReply};
use cais_use_cases::charges::create::{ChargeRefusal, CreateChargeError};
use cais_use_cases::charges::fetch::FetchError;
use cais_use_cases::charges::list;
use cais_use_cases::resume;

use crate::bed::{TestBed, id_of, named, ten_reais};

/// A time longer than every pause of a worker.
const LONG: Duration = Duration::from_mins(6);

async fn visible(bed: &TestBed) -> usize {
    let page = PageRequest { limit: 200, starting_after: None };
    list::list(&bed.ports, bed.account.id, page).await.unwrap().rows.len()
}

#[tokio::test]
async fn charge_not_accepted_by_any_acquirer_is_not_visible() {
    for mood in [OrderReply::Down, OrderReply::Refuses] {
        let bed = TestBed::with(an_account(), 2).await;
        bed.psp.set_all(mood);
        bed.second.set_all(mood);
        let failed = bed.create("a", named("order-1", ten_reais())).await;

        assert_eq!(failed, Err(CreateChargeError::AcquirerUnavailable), "{mood:?}");
        assert_eq!(
            (bed.psp.ordered(OrderKind::Charge), bed.second.ordered(OrderKind::Charge)),
            (1, 1),
            "both received an order"
        );
        let charge = bed.only_charge();
        assert_eq!(charge.state.status(), ChargeStatus::Abandoned);
        assert_eq!(visible(&bed).await, 0);
        assert_eq!(bed.read(charge.id).await, Err(FetchError::NotFound));
        assert_eq!(bed.read_external("order-1").await, Err(FetchError::NotFound));
        assert_eq!(bed.event_types(), []);
        bed.check().await;
    }
}

#[tokio::test]
async fn repeat_of_abandoned_creation_retries_same_charge() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Down);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let abandoned = bed.only_charge();
    // The acquirers are still down and none has the charge, so the response is the same.
    assert_eq!(bed.create("a", named("order-1", ten_reais())).await, Err(CreateChargeError::AcquirerUnavailable));
    assert_eq!(bed.read_external("order-1").await, Err(FetchError::NotFound));

    bed.psp.set_all(OrderReply::Accepts);
    bed.clock.advance(LONG);
    let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(answer.kind, ResponseKind::Created);
    let charge = bed.only_charge();
    assert_eq!((charge.id, &charge.txid), (abandoned.id, &abandoned.txid));
    assert_eq!(bed.read_external("order-1").await.unwrap().id, charge.id);
    assert_eq!(bed.psp.charges().len(), 1);
    bed.check().await;
}

#[tokio::test]
async fn external_id_of_abandoned_charge_is_free() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Refuses);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    bed.psp.set_all(OrderReply::Accepts);
    let other = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created);

    // The first key creates no second charge. The external id already has a charge, so that charge becomes the stored
    // response of the key.
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((first.kind, id_of(&first)), (ResponseKind::Existing, id_of(&other)));
    bed.psp.pay(&bed.charge(id_of(&other)).txid, 1_000);
    bed.read(id_of(&other)).await.unwrap();
    let again = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, &again.body), (ResponseKind::Existing, &first.body));
    assert!(again.replay_of.is_some());
    assert_eq!((visible(&bed).await, bed.psp.charges().len()), (1, 1));
    bed.check().await;
}

#[tokio::test]
async fn abandoned_creation_is_checked_against_present_limit() {
    let mut bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Down);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let abandoned = bed.only_charge();
    bed.psp.set_all(OrderReply::Accepts);
    bed.clock.advance(LONG);
    let old = bed.account.clone();
    let limit = Money::from_centavos(999);
    bed.0.account.limits.charge = limit;
    let over = Err(CreateChargeError::Refused(ChargeRefusal::TransactionLimit { limit }));
    assert_eq!(bed.create("a", named("order-1", ten_reais())).await, over);
    assert_eq!((bed.only_charge(), bed.psp.charges().len()), (abandoned, 0), "the repeat created no charge");

    // A key keeps its stored response. An external id with a charge is the response to the key of the abandoned
    // creation.
    bed.0.account = old;
    let made = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    bed.0.account.limits.charge = limit;
    let again = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, &again.body, again.replay_of.is_some()), (ResponseKind::Created, &made.body, true));
    let named = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((named.kind, id_of(&named), bed.psp.charges().len()), (ResponseKind::Existing, id_of(&made), 1));
    bed.check().await;
}

#[tokio::test]
async fn creation_without_available_acquirer_does_not_begin() {
    let bed = TestBed::new().await;
    bed.psp.set_breaker_open(true);
    assert_eq!(bed.create("a", ten_reais()).await, Err(CreateChargeError::AcquirerUnavailable));
    assert_eq!(bed.store.charges(), []);
    bed.psp.set_breaker_open(false);
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn next_acquirer_gets_charge_that_first_did_not_accept() {
    let bed = TestBed::with(an_account(), 2).await;
    bed.psp.set_all(OrderReply::Down);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    let charge = bed.charge(id_of(&answer));
    assert_eq!(charge.state.acquirer().as_str(), "second");
    assert_eq!((bed.psp.charges().len(), bed.second.charges().len()), (0, 1));
}

#[tokio::test]
async fn abandoned_charge_may_go_to_another_acquirer_later() {
    let bed = TestBed::with(an_account(), 2).await;
    bed.psp.set_all(OrderReply::Down);
    bed.second.set_all(OrderReply::Down);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.second.set_all(OrderReply::Accepts);
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((bed.psp.charges().len(), bed.second.charges().len()), (0, 1));
}

#[tokio::test]
async fn unknown_outcome_prevents_request_to_next_acquirer() {
    for mood in [OrderReply::Silent, OrderReply::LosesReplies] {
        let bed = TestBed::with(an_account(), 2).await;
        bed.psp.set_all(mood);
        let lost = bed.create("a", ten_reais()).await;
        assert!(matches!(lost, Err(CreateChargeError::Unavailable { retry_after_s: 1.. })), "{lost:?}");
        bed.create("a", ten_reais()).await.unwrap_err();
        bed.clock.advance(LONG);
        resume::run_once(&bed.ports).await.unwrap();
        assert_eq!(bed.second.ordered(OrderKind::Charge), 0, "{mood:?}");
        assert_eq!(visible(&bed).await, 0);
    }
}

#[tokio::test]
async fn worker_finishes_creation_with_unknown_outcome() {
    for mood in [OrderReply::Silent, OrderReply::LosesReplies] {
        let bed = TestBed::new().await;
        bed.psp.set_all(mood);
        bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
        let begun = bed.only_charge();
        let hidden = bed.read_external("order-1").await;
        assert!(matches!(hidden, Err(FetchError::InProgress { retry_after_s: 1.. })), "{hidden:?}");

        bed.psp.set_all(OrderReply::Accepts);
        bed.clock.advance(LONG);
        let pass = resume::run_once(&bed.ports).await.unwrap();
        assert_eq!(pass.done, 1, "{mood:?}");
        assert_eq!(bed.status(begun.id), ChargeStatus::Pending);

        let repeat = bed.create("a", named("order-1", ten_reais())).await.unwrap();
        assert_eq!((repeat.kind, id_of(&repeat)), (ResponseKind::Created, begun.id));
        assert!(repeat.replay_of.is_some(), "the worker has stored the response");
        assert_eq!(bed.psp.charges().len(), 1);
        assert_eq!(resume::run_once(&bed.ports).await.unwrap().done, 0, "a finished creation is not resumed");
        bed.check().await;
    }
}

#[tokio::test]
async fn repeat_before_worker_finishes_creation() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::LosesReplies);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.psp.set_all(OrderReply::Accepts);
    let answer = bed.create("a", ten_reais()).await.unwrap();
    assert_eq!((answer.kind, answer.replay_of), (ResponseKind::Created, None));
    bed.clock.advance(LONG);
    assert_eq!(resume::run_once(&bed.ports).await.unwrap().done, 0);
    assert_eq!(bed.psp.charges().len(), 1);
}

#[tokio::test]
async fn unknown_outcome_that_proves_refused_is_abandoned() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Silent);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    bed.psp.set_all(OrderReply::Refuses);
    assert_eq!(bed.create("a", named("order-1", ten_reais())).await, Err(CreateChargeError::AcquirerUnavailable));
    assert_eq!(bed.only_charge().state.status(), ChargeStatus::Abandoned);
    let key = cais_ports::ReservationKey::ChargeExternalId(
        bed.account.id,
        cais_domain::external_id::ExternalId::parse("order-1").unwrap(),
    );
    assert_eq!(bed.store.find_owner(&key).await.unwrap(), None);
}

#[tokio::test]
async fn unavailable_store_is_reported_and_recovers() {
    let bed = TestBed::new().await;
    bed.store.set_unreachable(true);
    let down = bed.create("a", ten_reais()).await;
    assert!(matches!(down, Err(CreateChargeError::Unavailable { retry_after_s: 1.. })), "{down:?}");
    assert_eq!(bed.psp.ordered(OrderKind::Charge), 0, "no intent, no call");
    bed.store.set_unreachable(false);
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn refusal_of_existing_charge_is_resolved_by_lookup() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::LosesReplies);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let begun = bed.only_charge();
    // The acquirer created the charge, and refuses a second one with the same txid.
    bed.psp.set_all(OrderReply::Refuses);
    let answer = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((answer.kind, id_of(&answer)), (ResponseKind::Created, begun.id));
    assert_eq!((bed.status(begun.id), bed.psp.charges().len()), (ChargeStatus::Pending, 1));
}
