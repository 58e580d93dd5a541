//! The rules of refunds: which charges, times and amounts are permitted.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::merchant::account::{Account, AccountStatus, Feature, NotPermitted};
use cais_domain::money::Money;
use cais_domain::refund::WITHIN;
use cais_ports::{ResponseKind, Store as _};
use cais_testkit::builders::{in_status, pending_charge, steps};
use cais_testkit::psp::Sending;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::refunds::create::{CreateRefund, CreateRefundError, RefundRefusal, create};

use crate::world::{World, all, named, part};

#[tokio::test]
async fn unpaid_charge_is_not_refunded() {
    let world = World::new().await;
    for status in [ChargeStatus::Pending, ChargeStatus::Expired, ChargeStatus::Cancelled] {
        let charge = in_status(pending_charge(world.account.id), status);
        world.store.commit(steps::open_charge(&charge)).await.unwrap();
        let refused = world.refund("a", &charge, all()).await;
        assert_eq!(refused, Err(CreateRefundError::Refused(RefundRefusal::InvalidState(status))));
    }
    for status in [ChargeStatus::Creating, ChargeStatus::Abandoned] {
        let charge = in_status(pending_charge(world.account.id), status);
        world.store.commit(steps::open_charge(&charge)).await.unwrap();
        assert_eq!(world.refund("a", &charge, all()).await, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
    }
    assert_eq!(world.psp.refund_orders(), []);
    let charge = world.paid().await;
    world.psp.set(Sending::Completes);
    world.refund("b", &charge, all()).await.unwrap();
    let again = world.refund("c", &charge, all()).await;
    assert_eq!(again, Err(CreateRefundError::Refused(RefundRefusal::InvalidState(ChargeStatus::Refunded))));
}

#[tokio::test]
async fn another_accounts_charge_does_not_exist() {
    let world = World::new().await;
    let foreign = in_status(pending_charge(cais_testkit::builders::fresh()), ChargeStatus::Paid);
    world.store.commit(steps::open_charge(&foreign)).await.unwrap();
    assert_eq!(world.refund("a", &foreign, all()).await, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
}

#[tokio::test]
async fn charge_is_found_by_its_external_id() {
    let world = World::new().await;
    let name = cais_testkit::builders::an_external_id();
    let mut charge = in_status(pending_charge(world.account.id), ChargeStatus::Creating);
    charge.terms.external_id = Some(name.clone());
    world.store.commit(steps::open_charge(&charge)).await.unwrap();
    let mut command = world.command("a", &charge, all());
    command.terms.charge = ChargeName::External(name);
    let refused = create(&world.ports, command.clone()).await;
    assert!(matches!(refused, Err(CreateRefundError::Refused(RefundRefusal::ChargeInProgress { .. }))), "{refused:?}");
    charge.version = 1;
    let pending = in_status(charge, ChargeStatus::Pending);
    world.store.commit(steps::update_charge(&pending, pending.created_at)).await.unwrap();
    world.psp.hold(&pending);
    world.psp.pay(&pending.txid, 1_000);
    assert_eq!(world.read(&pending).await.state.status(), ChargeStatus::Paid);
    world.give(1_000).await;
    world.psp.set(Sending::Refuses);
    assert_eq!(create(&world.ports, command).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn partial_refunds_never_exceed_the_amount() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.give(5_000).await;
    world.psp.set(Sending::Completes);
    let exceeds =
        |rest| Err(CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest: Money::from_centavos(rest) }));
    assert_eq!(world.refund("a", &charge, part(1_001)).await, exceeds(1_000));
    assert_eq!(world.refund("b", &charge, part(1)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(world.refund("c", &charge, part(1_000)).await, exceeds(999));
    world.psp.set(Sending::Takes);
    assert_eq!(world.refund("d", &charge, part(999)).await.unwrap().kind, ResponseKind::Created, "on its way");
    assert_eq!(world.refund("e", &charge, part(1)).await, exceeds(0));
    assert_eq!(world.refund("e", &charge, all()).await, exceeds(0));
    assert_eq!(world.psp.returned(), 1_000);
    world.check().await;
}

#[tokio::test]
async fn excess_payment_is_not_refunded_with_charge() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 1_500);
    let charge = world.read(&charge).await;
    world.psp.set(Sending::Completes);
    world.refund("a", &charge, all()).await.unwrap();
    assert_eq!((world.available(), world.psp.returned()), (500, 1_000));
    world.check().await;
}

#[tokio::test]
async fn refund_after_ninety_days_is_refused() {
    let world = World::new().await;
    let charge = world.paid().await;
    let within = Duration::try_from(WITHIN).unwrap();
    world.clock.advance(within);
    assert_eq!(world.refund("a", &charge, part(100)).await.unwrap().kind, ResponseKind::Created, "the last instant");
    world.clock.advance(Duration::from_micros(1));
    assert_eq!(
        world.refund("b", &charge, part(100)).await,
        Err(CreateRefundError::Refused(RefundRefusal::DeadlinePassed))
    );
}

#[tokio::test]
async fn refund_during_open_infraction_is_refused() {
    let world = World::new().await;
    let charge = world.paid().await;
    let disputed = Charge { open_infractions: 1, ..world.charge(charge.id) };
    world.store.commit(steps::update_charge(&disputed, charge.created_at)).await.unwrap();
    assert_eq!(world.refund("a", &charge, all()).await, Err(CreateRefundError::Refused(RefundRefusal::InfractionOpen)));
    let settled = Charge { open_infractions: 0, ..world.charge(charge.id) };
    world.store.commit(steps::update_charge(&settled, charge.created_at)).await.unwrap();
    assert_eq!(
        world.refund("a", &charge, all()).await.unwrap().kind,
        ResponseKind::Created,
        "the key is free as before"
    );
}

#[tokio::test]
async fn refund_without_balance_is_refused() {
    let world = World::new().await;
    let charge = world.paid().await;
    world.spend_all_but(399).await;
    let refused = world.refund("a", &charge, named("back-1", part(400))).await.unwrap();
    assert_eq!((refused.kind, refused.replay_of), (ResponseKind::InsufficientBalance, None));
    assert_eq!((world.store.refunds(), world.psp.refund_orders()), (vec![], vec![]));
    assert_eq!(world.charge(charge.id).refunds.in_flight, Money::ZERO);
    world.give(1).await;
    let again = world.refund("a", &charge, named("back-1", part(400))).await.unwrap();
    assert_eq!(
        (again.kind, &again.body, again.replay_of.is_some()),
        (ResponseKind::InsufficientBalance, &refused.body, true),
        "for ever"
    );
    let other = world.refund("b", &charge, named("back-1", part(400))).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created, "a new key is judged afresh, and the name was free");
    assert_eq!((world.available(), world.in_transit()), (0, 400));
    world.check().await;
}

fn suspended_account(world: &World) -> Account {
    Account { status: AccountStatus::Suspended, ..world.account.clone() }
}

#[tokio::test]
async fn refund_requires_active_account_and_no_feature() {
    let world = World::new().await;
    let charge = world.paid().await;
    let command = CreateRefund { account: suspended_account(&world), ..world.command("a", &charge, all()) };
    let refused = create(&world.ports, command).await;
    assert_eq!(refused, Err(CreateRefundError::NotPermitted(NotPermitted::Suspended)));
    let kept = world.refund("kept", &charge, part(100)).await.unwrap();
    let same = CreateRefund { account: suspended_account(&world), ..world.command("kept", &charge, part(100)) };
    let again = create(&world.ports, same).await.unwrap();
    assert_eq!((again.kind, again.body, again.replay_of.is_some()), (ResponseKind::Created, kept.body, true));
    let features = world.account.features.without(Feature::PixIn).without(Feature::PixOut);
    let plain = Account { features, ..world.account.clone() };
    let command = CreateRefund { account: plain, ..world.command("a", &charge, all()) };
    assert_eq!(create(&world.ports, command).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn refund_goes_through_acquirer_of_payment() {
    let world = World::new().await;
    let charge = world.pending().await;
    // The charge was issued at the first acquirer and paid at the second, which has a duplicate charge with the same
    // txid.
    world.second.hold(&charge);
    world.second.pay(&charge.txid, 1_000);
    let sync = cais_use_cases::reconcile::run(
        &world.ports,
        charge.created_at,
        world.clock.advance(Duration::from_secs(1)),
        true,
        &|_| {},
    );
    assert_eq!(sync.await.unwrap().differences.len(), 1);
    world.second.set(Sending::Completes);
    assert_eq!(world.refund("a", &charge, all()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((world.psp.refund_orders().len(), world.second.refund_orders().len()), (0, 1));
    assert_eq!(world.only_refund().acquirer, world.second.name);
    assert_eq!((world.available(), world.second.returned()), (0, 1_000));
    world.check().await;
}
