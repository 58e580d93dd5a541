//! The external id of a charge: it has one charge, whatever the number of keys.

use cais_ports::{ResponseKind, Store as _};
use cais_testkit::builders::{an_account, steps};
use cais_testkit::psp::{OrderKind, OrderReply};
use cais_use_cases::Response;
use cais_use_cases::charges::create::{CreateChargeError, create};
use cais_use_cases::external_id_conflict::ExternalIdConflict;

use crate::bed::{TestBed, id_of, named, reais, ten_reais};

/// Returns the refusal of a charge whose external id belongs to `first`.
fn another_amount(first: &Response) -> CreateChargeError {
    ExternalIdConflict { owner: id_of(first).to_string(), fields: vec!["amount"] }.into()
}

#[tokio::test]
async fn known_external_id_with_same_amount_returns_original() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let again = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, again.replay_of), (ResponseKind::Existing, None));
    assert_eq!(id_of(&again), id_of(&first));
    assert_eq!((bed.psp.ordered(OrderKind::Charge), bed.psp.charges().len()), (1, 1));

    // From now on this response belongs to the second key too, in every later state of the charge.
    let charge = bed.only_charge();
    bed.psp.pay(&charge.txid, 1_000);
    bed.read(charge.id).await.unwrap();
    let replayed = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((replayed.kind, &replayed.body), (ResponseKind::Existing, &again.body));
    assert!(replayed.replay_of.is_some());
    let third = bed.create("c", named("order-1", ten_reais())).await.unwrap();
    assert_eq!(third.kind, ResponseKind::Existing);
    assert_ne!(third.body, again.body, "a new key sees the charge as it is");
}

#[tokio::test]
async fn external_id_conflict_compares_only_the_amount() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let mut terms = named("order-1", ten_reais());
    terms.expires_in_s = 60;
    assert_eq!(bed.create("b", terms).await.unwrap().kind, ResponseKind::Existing);
    let other = bed.create("c", named("order-1", reais(11))).await;
    assert_eq!(other, Err(another_amount(&first)));
    // A refusal is not stored: the same key may be used with another external id.
    assert_eq!(bed.create("c", named("order-2", reais(11))).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn original_is_returned_without_acquirer() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    bed.psp.set_breaker_open(true);
    let again = bed.create("b", named("order-1", ten_reais())).await.unwrap();
    assert_eq!((again.kind, id_of(&again)), (ResponseKind::Existing, id_of(&first)));
    let other = bed.create("c", named("order-1", reais(11))).await;
    assert_eq!(other, Err(another_amount(&first)));
}

#[tokio::test]
async fn external_id_of_unfinished_charge_is_in_progress() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Silent);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    for amount in [10, 11] {
        let other = bed.create("b", named("order-1", reais(amount))).await;
        assert!(
            matches!(other, Err(CreateChargeError::ExternalIdInProgress { retry_after_s: 1.. })),
            "{amount}: {other:?}"
        );
    }
    assert_eq!(bed.psp.ordered(OrderKind::Charge), 1);
}

#[tokio::test]
async fn external_ids_of_accounts_are_independent() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let other = an_account();
    bed.store.commit(steps::open_account(&other)).await.unwrap();
    let mut command = bed.command("a", named("order-1", reais(11)));
    command.account = other;
    let second = create(&bed.ports, command).await.unwrap();
    assert_eq!(second.kind, ResponseKind::Created);
    assert_ne!(id_of(&first), id_of(&second));
}

#[tokio::test]
async fn concurrent_keys_with_one_external_id_create_one_charge() {
    let bed = TestBed::new().await;
    let calls = (0..32).map(|call| {
        let (ports, command) = (bed.ports.clone(), bed.command(&call.to_string(), named("order-1", ten_reais())));
        tokio::spawn(async move { create(&ports, command).await })
    });
    let mut made = 0;
    for call in futures_util::future::join_all(calls).await {
        match call.unwrap() {
            Ok(answer) if answer.kind == ResponseKind::Created => made += 1,
            Ok(answer) => assert_eq!(answer.kind, ResponseKind::Existing),
            Err(error) => assert!(matches!(error, CreateChargeError::ExternalIdInProgress { .. }), "{error}"),
        }
    }
    assert_eq!((made, bed.psp.charges().len()), (1, 1));
    let named = bed.create("31", named("order-1", ten_reais())).await.unwrap();
    assert!(matches!(named.kind, ResponseKind::Created | ResponseKind::Existing), "{:?}", named.kind);
    bed.check().await;
}
