//! The state and the permissions that an account needs, and the order of the checks.

use cais_domain::merchant::account::{Account, AccountStatus, Feature, Limits, NotPermitted};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::ResponseKind;
use cais_testkit::builders::an_account;
use cais_testkit::psp::{OrderKind, OrderReply};
use cais_use_cases::charges::create::{
    ChargeRefusal, CreateCharge, CreateChargeError, NewCharge, RequestedShare, create,
};

use crate::bed::{TestBed, named, reais, ten_reais};

/// Returns a request with `account`, as an operator has changed it meanwhile.
fn as_account(bed: &TestBed, account: Account, terms: NewCharge) -> CreateCharge {
    CreateCharge { account, ..bed.command("a", terms) }
}

#[tokio::test]
async fn forbidden_creation_names_its_reason() {
    let bed = TestBed::new().await;
    let good = bed.account.clone();
    let suspended = Account { status: AccountStatus::Suspended, ..good.clone() };
    let unknown = Account { kyc: cais_domain::merchant::account::Kyc::Pending, ..good.clone() };
    let switched_off = Account { features: good.features.without(Feature::PixIn), ..good.clone() };
    for (account, reason) in [
        (suspended, NotPermitted::Suspended),
        (unknown, NotPermitted::KycNotApproved),
        (switched_off, NotPermitted::FeatureDisabled(Feature::PixIn)),
    ] {
        let refused = create(&bed.ports, as_account(&bed, account, ten_reais())).await;
        assert_eq!(refused, Err(CreateChargeError::NotPermitted(reason)));
    }
    assert_eq!((bed.store.charges().len(), bed.psp.ordered(OrderKind::Charge)), (0, 0));
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created, "the key is free as before");
}

#[tokio::test]
async fn stored_answer_of_suspended_account_is_replayed() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let good = bed.account.clone();
    let suspended = Account { status: AccountStatus::Suspended, ..good.clone() };
    let switched_off = Account { features: good.features.without(Feature::PixIn), ..good };
    for (account, reason) in
        [(suspended, NotPermitted::Suspended), (switched_off, NotPermitted::FeatureDisabled(Feature::PixIn))]
    {
        let same = as_account(&bed, account.clone(), named("order-1", ten_reais()));
        let again = create(&bed.ports, same.clone()).await.unwrap();
        assert_eq!((again.kind, &again.body, again.replay_of.is_some()), (ResponseKind::Created, &first.body, true));
        let other = as_account(&bed, account, named("order-1", reais(11)));
        assert_eq!(create(&bed.ports, other).await, Err(CreateChargeError::KeyConflict));
        let new_key = CreateCharge { key: bed.command("b", ten_reais()).key, ..same };
        let refused = create(&bed.ports, new_key).await;
        assert_eq!(refused, Err(CreateChargeError::NotPermitted(reason)), "an external id starts a new request");
    }
}

#[tokio::test]
async fn abandoned_creation_of_suspended_account_is_not_retried() {
    let bed = TestBed::new().await;
    bed.psp.set_all(OrderReply::Refuses);
    bed.create("a", ten_reais()).await.unwrap_err();
    bed.psp.set_all(OrderReply::Accepts);
    let suspended = Account { status: AccountStatus::Suspended, ..bed.account.clone() };
    let creates = bed.psp.ordered(OrderKind::Charge);
    let refused = create(&bed.ports, as_account(&bed, suspended, ten_reais())).await;
    assert_eq!(refused, Err(CreateChargeError::NotPermitted(NotPermitted::Suspended)));
    assert_eq!(bed.psp.ordered(OrderKind::Charge), creates);
    assert_eq!(bed.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn split_without_feature_is_refused() {
    let bed = TestBed::new().await;
    let share =
        RequestedShare { recipient_email: "rui@shop.example".to_owned(), percentage: Percentage::parse("10").unwrap() };
    let split = NewCharge { split: vec![share], ..ten_reais() };
    assert_eq!(bed.create("a", split).await, Err(CreateChargeError::Refused(ChargeRefusal::SplitDisabled)));
}

#[tokio::test]
async fn amount_up_to_limit_is_accepted() {
    let limit = Money::from_centavos(2_000);
    let account = Account { limits: Limits { charge: limit, payout: limit }, ..an_account() };
    let bed = TestBed::with(account, 1).await;
    assert_eq!(bed.create("a", reais(20)).await.unwrap().kind, ResponseKind::Created);
    let mut above = reais(20);
    above.amount = Money::from_centavos(2_001);
    assert_eq!(
        bed.create("b", above).await,
        Err(CreateChargeError::Refused(ChargeRefusal::TransactionLimit { limit }))
    );
    assert_eq!(bed.create("b", reais(3)).await.unwrap().kind, ResponseKind::Created, "a refusal leaves the key free");
}

#[tokio::test]
async fn limit_is_checked_after_replay_and_before_conflict() {
    let bed = TestBed::new().await;
    let first = bed.create("a", named("order-1", ten_reais())).await.unwrap();
    let limit = Money::from_centavos(500);
    let poor = Account { limits: Limits { charge: limit, payout: limit }, ..bed.account.clone() };

    let again = create(&bed.ports, as_account(&bed, poor.clone(), named("order-1", ten_reais()))).await;
    assert_eq!(again.unwrap().body, first.body);
    let conflict = create(&bed.ports, as_account(&bed, poor.clone(), named("order-1", reais(11)))).await;
    assert_eq!(conflict, Err(CreateChargeError::KeyConflict));
    let other_key = CreateCharge { account: poor.clone(), ..bed.command("b", named("order-1", ten_reais())) };
    let original = create(&bed.ports, other_key).await.unwrap();
    assert_eq!((original.kind, original.body), (ResponseKind::Existing, first.body), "the limit is not checked again");
    for terms in [named("order-1", reais(11)), named("order-2", ten_reais())] {
        let refused = CreateCharge { account: poor.clone(), ..bed.command("c", terms) };
        assert_eq!(
            create(&bed.ports, refused).await,
            Err(CreateChargeError::Refused(ChargeRefusal::TransactionLimit { limit }))
        );
    }
}
