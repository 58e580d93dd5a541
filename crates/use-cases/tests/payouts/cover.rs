//! Payouts above the balance: the refusal is stored for repeats, and no money moves.

use cais_domain::money::Money;
use cais_ports::ResponseKind;
use cais_testkit::Crash;
use cais_testkit::psp::OrderReply;
use cais_use_cases::payouts::create::{CreatePayoutError, PayoutRefusal};
use cais_use_cases::payouts::fetch::FetchError;

use crate::bed::{FEE, FUNDS, PAST_LEASE, TestBed, body, id_of, named, reais, ten_reais};

#[tokio::test]
async fn refusal_without_balance_is_replayed_permanently() {
    let bed = TestBed::new().await;
    let refused = bed.create("a", named("order-1", reais(20))).await.unwrap();
    assert_eq!(
        (refused.kind, refused.replay_of),
        (ResponseKind::InsufficientBalance, None),
        "R$ 20.00 are there, but not the fee"
    );
    assert_eq!(body(&refused)["error"]["code"], "insufficient_balance");
    assert_eq!((bed.store.payouts(), bed.psp.payout_orders().len()), (vec![], 0));
    assert_eq!(bed.read_external("order-1").await, Err(FetchError::NotFound));
    bed.untouched().await;

    bed.fund(1_000).await;
    let again = bed.create("a", named("order-1", reais(20))).await.unwrap();
    assert_eq!(
        (again.kind, &again.body),
        (ResponseKind::InsufficientBalance, &refused.body),
        "byte for byte, though the money is there now"
    );
    assert!(again.replay_of.is_some());
    assert_eq!(bed.create("a", reais(19)).await, Err(CreatePayoutError::KeyConflict));
    let made = bed.create("b", named("order-1", reais(20))).await.unwrap();
    assert_eq!(made.kind, ResponseKind::Created, "a new key is judged afresh, and the name was free");
    assert_eq!(bed.money(), (FUNDS + 1_000 - 2_000 - FEE, 2_000 + FEE));
    bed.check().await;
}

#[tokio::test]
async fn whole_balance_can_be_paid_out() {
    let bed = TestBed::new().await;
    bed.fund(FEE).await;
    assert_eq!(bed.create("a", reais(20)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(bed.money(), (0, FUNDS + FEE));
}

#[tokio::test]
async fn concurrent_payouts_with_balance_for_one_make_one() {
    let bed = TestBed::new().await;
    let keys: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let crowd = bed.contended();
    let answers = futures_util::future::join_all(keys.iter().map(|key| crowd.create(key, ten_reais()))).await;
    let kinds: Vec<ResponseKind> = answers.iter().map(|answer| answer.as_ref().unwrap().kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == ResponseKind::Created).count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == ResponseKind::InsufficientBalance).count(), 63, "{kinds:?}");
    assert_eq!((bed.psp.payout_orders().len(), bed.money()), (1, (FUNDS - 1_000 - FEE, 1_000 + FEE)));
    for (key, answer) in keys.iter().zip(answers) {
        let again = bed.create(key, ten_reais()).await.unwrap();
        assert_eq!(again.body, answer.unwrap().body);
    }
    bed.check().await;
}

#[tokio::test]
async fn repeat_of_abandoned_payout_without_balance_is_refused() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    bed.psp.set(OrderReply::Completes);
    let spent = bed.create("b", reais(19)).await.unwrap();
    assert_eq!(spent.kind, ResponseKind::Created);

    let refused = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((refused.kind, refused.replay_of), (ResponseKind::InsufficientBalance, None));
    assert_eq!(bed.read_external("order-1").await, Err(FetchError::NotFound), "the name stays free");
    bed.fund(5_000).await;
    let again = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(
        (again.kind, again.body, again.replay_of.is_some()),
        (ResponseKind::InsufficientBalance, refused.body, true)
    );
    let other = bed.create("c", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created);
    assert_ne!(id_of(&other), id_of(&spent));
    assert_eq!((bed.visible().await, bed.psp.sent()), (2, 2));
    bed.check().await;
}

#[tokio::test]
async fn refusal_that_was_not_stored_is_decided_again() {
    let bed = TestBed::new().await;
    // The first commit is refused. The second commit stores the response.
    for crash in [cais_testkit::Crash::Before, cais_testkit::Crash::After] {
        let key = format!("{crash:?}");
        bed.store.crash_at(2, crash);
        let lost = bed.create(&key, reais(20)).await;
        assert!(matches!(lost, Err(CreatePayoutError::Unavailable { .. })), "{lost:?}");
        assert_eq!(bed.create(&key, reais(20)).await.unwrap().kind, ResponseKind::InsufficientBalance);
    }
    bed.untouched().await;
}

#[tokio::test]
async fn abandoned_payout_is_checked_against_present_limit() {
    let mut bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let given_up = bed.only_payout();
    bed.psp.set(OrderReply::Completes);
    let old = bed.account.clone();
    let limit = Money::from_centavos(999);
    bed.0.account.limits.payout = limit;
    let over = Err(CreatePayoutError::Refused(PayoutRefusal::TransactionLimit { limit }));
    assert_eq!(bed.create("a", named("order-1", ten_reais())).await, over);
    assert_eq!((bed.only_payout(), bed.psp.sent()), (given_up, 0), "the repeat sent no payout");
    bed.untouched().await;

    // A key keeps its stored response. An external id with a payout is the response to the key of the abandoned
    // creation.
    bed.0.account = old;
    let made = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    bed.0.account.limits.payout = limit;
    let again = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, &again.body, again.replay_of.is_some()), (ResponseKind::Created, &made.body, true));
    let named = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((named.kind, id_of(&named), bed.psp.sent()), (ResponseKind::Existing, id_of(&made), 1));
    bed.check().await;
}

#[tokio::test]
async fn payout_in_flight_is_finished_after_limit_decrease() {
    let mut bed = TestBed::new().await;
    bed.store.crash_at(2, Crash::Before);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.clock.advance(PAST_LEASE);
    bed.0.account.limits.payout = Money::from_centavos(999);
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(bed.psp.sent(), 1);
    bed.check().await;
}
