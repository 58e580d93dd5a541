//! The state and the permissions that an account needs, and the order of the checks.

use cais_domain::merchant::account::{Account, AccountStatus, Feature, Limits, NotPermitted};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::ResponseKind;
use cais_testkit::builders::an_account;
use cais_testkit::psp::{OrderKind, Sending};
use cais_use_cases::charges::create::{
    ChargeRefusal, CreateCharge, CreateChargeError, NewCharge, RequestedShare, create,
};

use crate::world::{World, named, reais, ten_reais};

/// Returns a request with `account`, as an operator has changed it meanwhile.
fn as_account(world: &World, account: Account, terms: NewCharge) -> CreateCharge {
    CreateCharge { account, ..world.command("a", terms) }
}

#[tokio::test]
async fn forbidden_creation_names_its_reason() {
    let world = World::new().await;
    let good = world.account.clone();
    let suspended = Account { status: AccountStatus::Suspended, ..good.clone() };
    let unknown = Account { kyc: cais_domain::merchant::account::Kyc::Pending, ..good.clone() };
    let switched_off = Account { features: good.features.without(Feature::PixIn), ..good.clone() };
    for (account, reason) in [
        (suspended, NotPermitted::Suspended),
        (unknown, NotPermitted::KycNotApproved),
        (switched_off, NotPermitted::FeatureDisabled(Feature::PixIn)),
    ] {
        let refused = create(&world.ports, as_account(&world, account, ten_reais())).await;
        assert_eq!(refused, Err(CreateChargeError::NotPermitted(reason)));
    }
    assert_eq!((world.store.charges().len(), world.psp.ordered(OrderKind::Charge)), (0, 0));
    assert_eq!(world.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created, "the key is free as before");
}

#[tokio::test]
async fn stored_answer_of_suspended_account_is_replayed() {
    let world = World::new().await;
    let first = world.create("a", named("order-1", ten_reais())).await.unwrap();
    let good = world.account.clone();
    let suspended = Account { status: AccountStatus::Suspended, ..good.clone() };
    let switched_off = Account { features: good.features.without(Feature::PixIn), ..good };
    for (account, reason) in
        [(suspended, NotPermitted::Suspended), (switched_off, NotPermitted::FeatureDisabled(Feature::PixIn))]
    {
        let same = as_account(&world, account.clone(), named("order-1", ten_reais()));
        let again = create(&world.ports, same.clone()).await.unwrap();
        assert_eq!((again.kind, &again.body, again.replay_of.is_some()), (ResponseKind::Created, &first.body, true));
        let other = as_account(&world, account, named("order-1", reais(11)));
        assert_eq!(create(&world.ports, other).await, Err(CreateChargeError::KeyConflict));
        let new_key = CreateCharge { key: world.command("b", ten_reais()).key, ..same };
        let refused = create(&world.ports, new_key).await;
        assert_eq!(refused, Err(CreateChargeError::NotPermitted(reason)), "an external id starts a new request");
    }
}

#[tokio::test]
async fn abandoned_creation_of_suspended_account_is_not_retried() {
    let world = World::new().await;
    world.psp.set_all(Sending::Refuses);
    world.create("a", ten_reais()).await.unwrap_err();
    world.psp.set_all(Sending::Takes);
    let suspended = Account { status: AccountStatus::Suspended, ..world.account.clone() };
    let creates = world.psp.ordered(OrderKind::Charge);
    let refused = create(&world.ports, as_account(&world, suspended, ten_reais())).await;
    assert_eq!(refused, Err(CreateChargeError::NotPermitted(NotPermitted::Suspended)));
    assert_eq!(world.psp.ordered(OrderKind::Charge), creates);
    assert_eq!(world.create("a", ten_reais()).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn split_without_feature_is_refused() {
    let world = World::new().await;
    let share =
        RequestedShare { recipient_email: "rui@shop.example".to_owned(), percentage: Percentage::parse("10").unwrap() };
    let split = NewCharge { split: vec![share], ..ten_reais() };
    assert_eq!(world.create("a", split).await, Err(CreateChargeError::Refused(ChargeRefusal::SplitDisabled)));
}

#[tokio::test]
async fn amount_up_to_limit_is_accepted() {
    let limit = Money::from_centavos(2_000);
    let account = Account { limits: Limits { charge: limit, payout: limit }, ..an_account() };
    let world = World::with(account, 1).await;
    assert_eq!(world.create("a", reais(20)).await.unwrap().kind, ResponseKind::Created);
    let mut above = reais(20);
    above.amount = Money::from_centavos(2_001);
    assert_eq!(
        world.create("b", above).await,
        Err(CreateChargeError::Refused(ChargeRefusal::TransactionLimit { limit }))
    );
    assert_eq!(world.create("b", reais(3)).await.unwrap().kind, ResponseKind::Created, "a refusal leaves the key free");
}

#[tokio::test]
async fn limit_is_checked_after_replay_and_before_conflict() {
    let world = World::new().await;
    let first = world.create("a", named("order-1", ten_reais())).await.unwrap();
    let limit = Money::from_centavos(500);
    let poor = Account { limits: Limits { charge: limit, payout: limit }, ..world.account.clone() };

    let again = create(&world.ports, as_account(&world, poor.clone(), named("order-1", ten_reais()))).await;
    assert_eq!(again.unwrap().body, first.body);
    let conflict = create(&world.ports, as_account(&world, poor.clone(), named("order-1", reais(11)))).await;
    assert_eq!(conflict, Err(CreateChargeError::KeyConflict));
    let other_key = CreateCharge { account: poor.clone(), ..world.command("b", named("order-1", ten_reais())) };
    let original = create(&world.ports, other_key).await.unwrap();
    assert_eq!((original.kind, original.body), (ResponseKind::Existing, first.body), "the limit is not checked again");
    for terms in [named("order-1", reais(11)), named("order-2", ten_reais())] {
        let refused = CreateCharge { account: poor.clone(), ..world.command("c", terms) };
        assert_eq!(
            create(&world.ports, refused).await,
            Err(CreateChargeError::Refused(ChargeRefusal::TransactionLimit { limit }))
        );
    }
}
