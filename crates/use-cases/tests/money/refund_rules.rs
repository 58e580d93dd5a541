//! The rules of refunds: which charges, times and amounts are permitted.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::merchant::account::{Account, AccountStatus, Feature, NotPermitted};
use cais_domain::money::Money;
use cais_domain::refund::REFUND_PERIOD;
use cais_ports::{ResponseKind, Store as _};
use cais_testkit::builders::{in_status, pending_charge, steps};
use cais_testkit::psp::OrderReply;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::refunds::create::{CreateRefund, CreateRefundError, RefundRefusal, create};

use crate::bed::{TestBed, all, named, part};

#[tokio::test]
async fn unpaid_charge_is_not_refunded() {
    let bed = TestBed::new().await;
    for status in [ChargeStatus::Pending, ChargeStatus::Expired, ChargeStatus::Cancelled] {
        let charge = in_status(pending_charge(bed.account.id), status);
        bed.store.commit(steps::open_charge(&charge)).await.unwrap();
        let refused = bed.refund("a", &charge, all()).await;
        assert_eq!(refused, Err(CreateRefundError::Refused(RefundRefusal::InvalidState(status))));
    }
    for status in [ChargeStatus::Creating, ChargeStatus::Abandoned] {
        let charge = in_status(pending_charge(bed.account.id), status);
        bed.store.commit(steps::open_charge(&charge)).await.unwrap();
        assert_eq!(bed.refund("a", &charge, all()).await, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
    }
    assert_eq!(bed.psp.refund_orders(), []);
    let charge = bed.paid().await;
    bed.psp.set(OrderReply::Completes);
    bed.refund("b", &charge, all()).await.unwrap();
    let again = bed.refund("c", &charge, all()).await;
    assert_eq!(again, Err(CreateRefundError::Refused(RefundRefusal::InvalidState(ChargeStatus::Refunded))));
}

#[tokio::test]
async fn another_accounts_charge_does_not_exist() {
    let bed = TestBed::new().await;
    let foreign = in_status(pending_charge(cais_testkit::builders::fresh()), ChargeStatus::Paid);
    bed.store.commit(steps::open_charge(&foreign)).await.unwrap();
    assert_eq!(bed.refund("a", &foreign, all()).await, Err(CreateRefundError::Refused(RefundRefusal::NotFound)));
}

#[tokio::test]
async fn charge_is_found_by_its_external_id() {
    let bed = TestBed::new().await;
    let name = cais_testkit::builders::an_external_id();
    let mut charge = in_status(pending_charge(bed.account.id), ChargeStatus::Creating);
    charge.terms.external_id = Some(name.clone());
    bed.store.commit(steps::open_charge(&charge)).await.unwrap();
    let mut command = bed.command("a", &charge, all());
    command.terms.charge = ChargeName::External(name);
    let refused = create(&bed.ports, command.clone()).await;
    assert!(matches!(refused, Err(CreateRefundError::Refused(RefundRefusal::ChargeInProgress { .. }))), "{refused:?}");
    charge.version = 1;
    let pending = in_status(charge, ChargeStatus::Pending);
    bed.store.commit(steps::update_charge(&pending, pending.created_at)).await.unwrap();
    bed.psp.store_charge(&pending);
    bed.psp.pay(&pending.txid, 1_000);
    assert_eq!(bed.read(&pending).await.state.status(), ChargeStatus::Paid);
    bed.adjust_available(1_000).await;
    bed.psp.set(OrderReply::Refuses);
    assert_eq!(create(&bed.ports, command).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn partial_refunds_never_exceed_the_amount() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.adjust_available(5_000).await;
    bed.psp.set(OrderReply::Completes);
    let exceeds =
        |rest| Err(CreateRefundError::Refused(RefundRefusal::ExceedsAmount { rest: Money::from_centavos(rest) }));
    assert_eq!(bed.refund("a", &charge, part(1_001)).await, exceeds(1_000));
    assert_eq!(bed.refund("b", &charge, part(1)).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(bed.refund("c", &charge, part(1_000)).await, exceeds(999));
    bed.psp.set(OrderReply::Accepts);
    assert_eq!(bed.refund("d", &charge, part(999)).await.unwrap().kind, ResponseKind::Created, "on its way");
    assert_eq!(bed.refund("e", &charge, part(1)).await, exceeds(0));
    assert_eq!(bed.refund("e", &charge, all()).await, exceeds(0));
    assert_eq!(bed.psp.returned(), 1_000);
    bed.check().await;
}

#[tokio::test]
async fn excess_payment_is_not_refunded_with_charge() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_500);
    let charge = bed.read(&charge).await;
    bed.psp.set(OrderReply::Completes);
    bed.refund("a", &charge, all()).await.unwrap();
    assert_eq!((bed.available(), bed.psp.returned()), (500, 1_000));
    bed.check().await;
}

#[tokio::test]
async fn refund_after_ninety_days_is_refused() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let within = Duration::try_from(REFUND_PERIOD).unwrap();
    bed.clock.advance(within);
    assert_eq!(bed.refund("a", &charge, part(100)).await.unwrap().kind, ResponseKind::Created, "the last instant");
    bed.clock.advance(Duration::from_micros(1));
    assert_eq!(
        bed.refund("b", &charge, part(100)).await,
        Err(CreateRefundError::Refused(RefundRefusal::DeadlinePassed))
    );
}

#[tokio::test]
async fn refund_during_open_infraction_is_refused() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let disputed = Charge { open_infractions: 1, ..bed.charge(charge.id) };
    bed.store.commit(steps::update_charge(&disputed, charge.created_at)).await.unwrap();
    assert_eq!(bed.refund("a", &charge, all()).await, Err(CreateRefundError::Refused(RefundRefusal::InfractionOpen)));
    let settled = Charge { open_infractions: 0, ..bed.charge(charge.id) };
    bed.store.commit(steps::update_charge(&settled, charge.created_at)).await.unwrap();
    assert_eq!(bed.refund("a", &charge, all()).await.unwrap().kind, ResponseKind::Created, "the key is free as before");
}

#[tokio::test]
async fn refund_without_balance_is_refused() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    bed.set_available(399).await;
    let refused = bed.refund("a", &charge, named("back-1", part(400))).await.unwrap();
    assert_eq!((refused.kind, refused.replay_of), (ResponseKind::InsufficientBalance, None));
    assert_eq!((bed.store.refunds(), bed.psp.refund_orders()), (vec![], vec![]));
    assert_eq!(bed.charge(charge.id).refunds.in_flight, Money::ZERO);
    bed.adjust_available(1).await;
    let again = bed.refund("a", &charge, named("back-1", part(400))).await.unwrap();
    assert_eq!(
        (again.kind, &again.body, again.replay_of.is_some()),
        (ResponseKind::InsufficientBalance, &refused.body, true),
        "for ever"
    );
    let other = bed.refund("b", &charge, named("back-1", part(400))).await.unwrap();
    assert_eq!(other.kind, ResponseKind::Created, "a new key is judged afresh, and the name was free");
    assert_eq!((bed.available(), bed.in_transit()), (0, 400));
    bed.check().await;
}

fn suspended_account(bed: &TestBed) -> Account {
    Account { status: AccountStatus::Suspended, ..bed.account.clone() }
}

#[tokio::test]
async fn refund_requires_active_account_and_no_feature() {
    let bed = TestBed::new().await;
    let charge = bed.paid().await;
    let command = CreateRefund { account: suspended_account(&bed), ..bed.command("a", &charge, all()) };
    let refused = create(&bed.ports, command).await;
    assert_eq!(refused, Err(CreateRefundError::NotPermitted(NotPermitted::Suspended)));
    let kept = bed.refund("kept", &charge, part(100)).await.unwrap();
    let same = CreateRefund { account: suspended_account(&bed), ..bed.command("kept", &charge, part(100)) };
    let again = create(&bed.ports, same).await.unwrap();
    assert_eq!((again.kind, again.body, again.replay_of.is_some()), (ResponseKind::Created, kept.body, true));
    let features = bed.account.features.without(Feature::PixIn).without(Feature::PixOut);
    let plain = Account { features, ..bed.account.clone() };
    let command = CreateRefund { account: plain, ..bed.command("a", &charge, all()) };
    assert_eq!(create(&bed.ports, command).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn refund_goes_through_acquirer_of_payment() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    // The charge was issued at the first acquirer and paid at the second, which has a duplicate charge with the same
    // txid.
    bed.second.store_charge(&charge);
    bed.second.pay(&charge.txid, 1_000);
    let sync = cais_use_cases::reconcile::run(
        &bed.ports,
        charge.created_at,
        bed.clock.advance(Duration::from_secs(1)),
        true,
        &|_| {},
    );
    assert_eq!(sync.await.unwrap().differences.len(), 1);
    bed.second.set(OrderReply::Completes);
    assert_eq!(bed.refund("a", &charge, all()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!((bed.psp.refund_orders().len(), bed.second.refund_orders().len()), (0, 1));
    assert_eq!(bed.only_refund().acquirer, bed.second.name);
    assert_eq!((bed.available(), bed.second.returned()), (0, 1_000));
    bed.check().await;
}
