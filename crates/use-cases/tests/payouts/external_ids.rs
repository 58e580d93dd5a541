//! The external id of a payout: it has one payout, whatever the number of keys.

use cais_domain::pix_key::PixKey;
use cais_ports::{ResponseKind, Store as _};
use cais_testkit::Crash;
use cais_testkit::builders::{an_account, steps};
use cais_testkit::psp::OrderReply;
use cais_use_cases::Response;
use cais_use_cases::external_id_conflict::ExternalIdConflict;
use cais_use_cases::payouts::create::{CreatePayoutError, NewPayout, create};
use cais_use_cases::payouts::fetch::FetchError;

use crate::bed::{FEE, FUNDS, LONG, TestBed, id_of, named, reais, status_of, ten_reais};

/// Returns the refusal of a payout whose external id belongs to `first`.
fn conflict(first: &Response, fields: &[&'static str]) -> CreatePayoutError {
    ExternalIdConflict { owner: id_of(first).to_string(), fields: fields.to_vec() }.into()
}

#[tokio::test]
async fn known_external_id_with_same_terms_returns_original() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let again = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, again.replay_of, id_of(&again)), (ResponseKind::Existing, None, id_of(&first)));
    assert_eq!((bed.psp.payout_orders().len(), bed.money().0), (1, FUNDS - 1_000 - FEE));

    // From now on this response belongs to the second key too, in every later state of the payout.
    bed.psp.complete();
    bed.clock.advance(LONG);
    bed.poll().await;
    let replayed = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((replayed.kind, &replayed.body), (ResponseKind::Existing, &again.body));
    assert!(replayed.replay_of.is_some());
    let third = bed.create("c", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((third.kind, status_of(&third).as_str()), (ResponseKind::Existing, "completed"));
    bed.check().await;
}

#[tokio::test]
async fn external_id_conflict_compares_amount_and_normalized_key() {
    let bed = TestBed::new().await;
    let keyed = |key: &str| NewPayout { pix_key: PixKey::parse(key).unwrap(), ..named("order-1", ten_reais()) };
    let first = bed.create("a", keyed("Ana@Bank.example")).await.unwrap();
    assert_eq!(bed.create("b", keyed("ana@bank.EXAMPLE")).await.unwrap().kind, ResponseKind::Existing);
    assert_eq!(bed.create("c", keyed("rui@bank.example")).await, Err(conflict(&first, &["pix_key"])));
    let other = NewPayout { pix_key: PixKey::parse("ana@bank.example").unwrap(), ..named("order-1", reais(9)) };
    assert_eq!(bed.create("c", other).await, Err(conflict(&first, &["amount"])));
    // A refusal is not stored: the same key may be used with another external id.
    assert_eq!(bed.create("c", named("order-2", reais(9))).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn original_is_returned_without_balance_and_acquirers() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert!(bed.money().0 < 1_000);
    let again = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, id_of(&again)), (ResponseKind::Existing, id_of(&first)), "not insufficient_balance");
    bed.psp.set_breaker_open(true);
    bed.second.set_breaker_open(true);
    assert_eq!(bed.create("c", named("order-1", ten_reais())).await.unwrap().kind, ResponseKind::Existing);
    assert_eq!(bed.create("d", named("order-1", reais(9))).await, Err(conflict(&first, &["amount"])));
    assert_eq!(bed.create("e", named("order-9", ten_reais())).await, Err(CreatePayoutError::AcquirerUnavailable));
}

#[tokio::test]
async fn external_id_of_unfinished_payout_is_in_progress() {
    let bed = TestBed::new().await;
    bed.store.crash_at(2, Crash::Before);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    for amount in [10, 9] {
        let other = bed.create("b", named("order-1", reais(amount))).await;
        assert!(matches!(other, Err(CreatePayoutError::ExternalIdInProgress { retry_after_s: 1.. })), "{other:?}");
    }
    let hidden = bed.read_external("order-1").await;
    assert!(matches!(hidden, Err(FetchError::InProgress { retry_after_s: 1.. })), "{hidden:?}");
    assert_eq!(bed.read(bed.only_payout().id).await, Err(FetchError::NotFound));
    assert_eq!((bed.visible().await, bed.psp.payout_orders().len()), (0, 1));
}

#[tokio::test]
async fn concurrent_requests_with_one_external_id_make_one_payout() {
    let bed = TestBed::new().await;
    bed.fund(1_000_000).await;
    let keys: Vec<String> = (0..64).map(|number| number.to_string()).collect();
    let crowd = bed.contended();
    let calls = keys.iter().map(|key| crowd.create(key, named("order-1", ten_reais())));
    let answers = futures_util::future::join_all(calls).await;
    let waiting = answers.iter().filter(|answer| answer.is_err()).count();
    assert!(waiting > 0, "some have come while it was made: {answers:?}");
    let made = answers.iter().flatten().filter(|answer| answer.kind == ResponseKind::Created).count();
    assert_eq!(made, 1, "{answers:?}");
    let id = bed.only_payout().id;
    for answer in &answers {
        match answer {
            Ok(answer) => assert_eq!(id_of(answer), id),
            Err(error) => assert!(matches!(error, CreatePayoutError::ExternalIdInProgress { .. }), "{error:?}"),
        }
    }
    assert_eq!((bed.psp.payout_orders().len(), bed.money().1), (1, 1_000 + FEE));
    bed.check().await;
}

#[tokio::test]
async fn abandoned_external_id_is_free_and_new_owner_answers_old_key() {
    let bed = TestBed::new().await;
    bed.psp.set(OrderReply::Down);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    bed.psp.set(OrderReply::Accepts);
    let other = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created);

    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((first.kind, id_of(&first)), (ResponseKind::Existing, id_of(&other)), "not a second payout");
    let again = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, again.body, again.replay_of.is_some()), (ResponseKind::Existing, first.body, true));
    assert_eq!((bed.visible().await, bed.psp.sent()), (1, 1));
    bed.check().await;
}

#[tokio::test]
async fn external_ids_of_accounts_are_independent() {
    let bed = TestBed::new().await;
    bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let other = an_account();
    bed.store.commit(steps::open_account(&other)).await.unwrap();
    let mut command = bed.command("a", named("order-1", reais(9)));
    command.account = other;
    let refused = create(&bed.ports, command).await.unwrap();
    assert_eq!(
        refused.kind,
        ResponseKind::InsufficientBalance,
        "neither the key nor the name of another account: only its money is missing"
    );
    assert_eq!(bed.store.payouts().len(), 1);
}
