//! Every payment is credited once and in full, whenever it arrives.

use std::time::Duration;

use cais_domain::charge::{Charge, ChargeStatus};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::fee::{FeeRule, FeeSchedule, Operation};
use cais_domain::merchant::account::Account;
use cais_domain::money::Money;
use cais_domain::payment::PaymentRole;
use cais_domain::rate::Percentage;
use cais_ports::{CallbackState, ChargeOrder, NewEvent, UpstreamProgress};
use cais_testkit::builders::an_account;
use cais_testkit::psp::Sending;
use cais_use_cases::SyncGate;
use cais_use_cases::charges::cancel::cancel;
use cais_use_cases::charges::fetch::fetch;
use cais_use_cases::charges::{ChargeName, expire};
use serde_json::Value;

use crate::world::{World, named, ten_reais};

/// The progress of a return that the acquirer has made.
const RETURNED: UpstreamProgress = UpstreamProgress::Done { at: None };

/// Creates a world with fees of R$ 0.50 and 1 %.
async fn with_fee() -> World {
    let rule = FeeRule::try_new(Money::from_centavos(50), Percentage::parse("1").unwrap(), None, None).unwrap();
    let account = Account { fees: FeeSchedule::default().with(Operation::PixIn, rule), ..an_account() };
    World::with(account, 1).await
}

fn roles(world: &World) -> Vec<(i64, PaymentRole)> {
    let mut roles: Vec<_> =
        world.store.payments().iter().map(|credit| (credit.payment.amount.centavos(), credit.role)).collect();
    roles.sort_by_key(|(amount, _)| *amount);
    roles
}

async fn read(world: &World, charge: &Charge) -> ChargeStatus {
    world.read(charge.id).await.unwrap().state.status()
}

#[tokio::test]
async fn exact_payment_is_credited_less_the_fee() {
    let world = with_fee().await;
    let charge = world.pending().await;
    let id = world.psp.pay(&charge.txid, 1_000);
    let paid = world.read(charge.id).await.unwrap();
    assert_eq!(paid.state.status(), ChargeStatus::Paid);
    assert_eq!(paid.state.settlement().unwrap().end_to_end_id, id);
    assert_eq!(world.available(), 940);
    assert_eq!(world.event_types(), [EventType::ChargePaid]);
    assert_eq!(roles(&world), [(1_000, PaymentRole::Settles)]);
    world.check().await;
}

#[tokio::test]
async fn surplus_is_credited_in_full() {
    let world = with_fee().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 1_500);
    assert_eq!(read(&world, &charge).await, ChargeStatus::Paid);
    assert_eq!(world.available(), 940 + 500);
    world.check().await;
}

#[tokio::test]
async fn short_payment_is_credited_and_charge_stays_pending() {
    let world = with_fee().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 999);
    assert_eq!(read(&world, &charge).await, ChargeStatus::Pending);
    assert_eq!((world.available(), world.event_types()), (999, vec![EventType::PaymentUnexpected]));
    assert_eq!(read(&world, &charge).await, ChargeStatus::Pending);
    assert_eq!(world.available(), 999, "read again, credited once");

    world.psp.pay(&charge.txid, 1_000);
    assert_eq!(read(&world, &charge).await, ChargeStatus::Paid);
    assert_eq!(world.available(), 999 + 940);
    assert_eq!(roles(&world), [(999, PaymentRole::Short), (1_000, PaymentRole::Settles)]);
    world.check().await;
}

#[tokio::test]
async fn pix_returned_in_full_before_first_read_is_not_credited() {
    for (returned, available, status) in [(1_000, 0, ChargeStatus::Pending), (999, 1_000, ChargeStatus::Paid)] {
        let world = World::new().await;
        let charge = world.pending().await;
        let pix = world.psp.pay(&charge.txid, 1_000);
        world.psp.return_unasked(&pix, returned, RETURNED);
        assert_eq!(read(&world, &charge).await, status);
        assert_eq!(world.available(), available);
        world.check().await;
    }
}

#[tokio::test]
async fn callback_for_pix_returned_before_first_read_is_done() {
    let world = World::new().await;
    let charge = world.pending().await;
    let pix = world.psp.pay(&charge.txid, 1_000);
    world.psp.return_unasked(&pix, 1_000, RETURNED);
    world.call_back(&format!("{}/{pix}", charge.txid)).await;
    world.work().await;
    let states: Vec<_> = world.store.callbacks().iter().map(|callback| callback.state).collect();
    assert_eq!((states, world.available()), (vec![CallbackState::Done], 0));
    world.check().await;
}

#[tokio::test]
async fn return_after_credit_keeps_balance() {
    let world = World::new().await;
    let charge = world.pending().await;
    let paid = world.psp.pay(&charge.txid, 1_000);
    assert_eq!(read(&world, &charge).await, ChargeStatus::Paid);
    world.psp.return_unasked(&paid, 1_000, RETURNED);
    world.call_back(&format!("{}/{paid}", charge.txid)).await;
    world.work().await;
    assert_eq!(world.available(), 1_000);
    world.check().await;
}

#[tokio::test]
async fn second_payment_is_credited_without_fee() {
    let world = with_fee().await;
    let charge = world.pending().await;
    let first = world.psp.pay(&charge.txid, 1_000);
    world.psp.pay(&charge.txid, 1_001);
    let paid = world.read(charge.id).await.unwrap();
    assert_eq!(paid.state.settlement().unwrap().end_to_end_id, first);
    assert_eq!(world.available(), 940 + 1_001);
    assert_eq!(world.event_types(), [EventType::ChargePaid, EventType::PaymentUnexpected], "paid once");

    // The payment arrives after the charge is paid, with a callback.
    world.psp.pay(&charge.txid, 1_002);
    world.call_back(charge.txid.as_str()).await;
    world.work().await;
    assert_eq!(world.available(), 940 + 1_001 + 1_002);
    world.check().await;
}

#[tokio::test]
async fn payment_that_raced_expiry_pays_charge() {
    let world = with_fee().await;
    let charge = world.pending().await;
    world.clock.advance(Duration::from_hours(2));
    assert_eq!(expire::run_once(&world.ports).await.unwrap().done, 1);
    assert_eq!(world.status(charge.id), ChargeStatus::Expired);

    world.psp.pay(&charge.txid, 1_000);
    world.call_back(charge.txid.as_str()).await;
    world.work().await;
    assert_eq!(world.status(charge.id), ChargeStatus::Paid);
    assert_eq!(world.available(), 940);
    assert_eq!(world.event_types(), [EventType::ChargeExpired, EventType::ChargePaid]);
    world.check().await;
}

#[tokio::test]
async fn payment_that_raced_cancellation_pays_charge() {
    let world = with_fee().await;
    let charge = world.pending().await;
    cancel(&world.ports, &world.account, &ChargeName::Id(charge.id)).await.unwrap();
    world.psp.pay(&charge.txid, 1_000);
    world.call_back(charge.txid.as_str()).await;
    world.work().await;
    assert_eq!(world.status(charge.id), ChargeStatus::Paid);
    assert_eq!(world.available(), 940);
    assert_eq!(world.event_types(), [EventType::ChargeCancelled, EventType::ChargePaid]);
    world.check().await;
}

#[tokio::test]
async fn payment_of_abandoned_charge_is_credited_in_full() {
    let world = with_fee().await;
    world.psp.set_all(Sending::Refuses);
    world.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let charge = world.only_charge();
    world.psp.set_all(Sending::Takes);
    world.psp.hold_order(&ChargeOrder {
        txid: charge.txid.clone(),
        amount: charge.terms.amount,
        expires_in_s: 3_600,
        payer: None,
        description: None,
    });
    world.psp.pay(&charge.txid, 1_000);
    world.call_back(charge.txid.as_str()).await;
    world.work().await;
    assert_eq!(world.available(), 1_000);
    assert_eq!(world.status(charge.id), ChargeStatus::Abandoned, "the charge was never visible");
    let reasons: Vec<_> = unexpected(&world).into_iter().map(|(reason, amount, _)| (reason, amount)).collect();
    assert_eq!(reasons, [("late".to_owned(), "10.00".to_owned())]);
    world.check().await;
}

/// Returns the reason, the amount and the Pix of each `payment.unexpected`.
fn unexpected(world: &World) -> Vec<(String, String, String)> {
    let events = world.store.events(world.account.id);
    let of = |event: &NewEvent| {
        let data: Value = serde_json::from_slice(&event.data).unwrap();
        let text = |name: &str| data[name].as_str().unwrap().to_owned();
        (text("reason"), text("amount"), text("end_to_end_id"))
    };
    let extra = events.iter().filter(|stored| stored.event.kind == EventType::PaymentUnexpected);
    extra.map(|stored| of(&stored.event)).collect()
}

#[tokio::test]
async fn extra_payment_of_each_kind_publishes_its_reason_once() {
    let world = with_fee().await;
    let charge = world.pending().await;
    let short = world.psp.pay(&charge.txid, 999);
    assert_eq!(read(&world, &charge).await, ChargeStatus::Pending);
    let over = world.psp.pay(&charge.txid, 1_500);
    assert_eq!(read(&world, &charge).await, ChargeStatus::Paid);
    let second = world.psp.pay(&charge.txid, 700);
    for _ in 0..2 {
        world.call_back(charge.txid.as_str()).await;
        world.work().await;
    }
    let row = |reason: &str, amount: &str, pix: &EndToEndId| (reason.to_owned(), amount.to_owned(), pix.to_string());
    let expected =
        [row("underpaid", "9.99", &short), row("overpaid", "5.00", &over), row("duplicate", "7.00", &second)];
    assert_eq!(unexpected(&world), expected);
    world.check().await;
}

#[tokio::test]
async fn pix_under_two_charges_is_credited_once() {
    let world = World::new().await;
    let (one, two) = (world.pending().await, world.pending().await);
    let id = world.psp.pay(&one.txid, 1_000);
    world.psp.pay_as(&two.txid, 1_000, id);
    assert_eq!(read(&world, &one).await, ChargeStatus::Paid);
    assert_eq!(read(&world, &two).await, ChargeStatus::Pending, "the same Pix cannot pay both");
    assert_eq!((world.available(), world.store.payments().len()), (1_000, 1));
    world.check().await;
}

#[tokio::test]
async fn concurrent_readers_credit_payment_once() {
    let world = World::new().await;
    let charge = world.pending().await;
    world.psp.pay(&charge.txid, 700);
    world.psp.pay(&charge.txid, 1_000);
    let readers = (0..32).map(|_| {
        let (ports, account, name) = (world.ports.clone(), world.account.id, ChargeName::Id(charge.id));
        tokio::spawn(async move { fetch(&ports, &SyncGate::new(), account, &name).await })
    });
    for reader in futures_util::future::join_all(readers).await {
        reader.unwrap().unwrap();
    }
    assert_eq!(read(&world, &charge).await, ChargeStatus::Paid);
    assert_eq!((world.available(), world.store.payments().len()), (1_700, 2));
    assert_eq!(world.event_types(), [EventType::PaymentUnexpected, EventType::ChargePaid]);
    world.check().await;
}

#[tokio::test]
async fn credited_payment_is_not_committed_again_by_reads() {
    let world = World::new().await;
    let charge = world.pending().await;
    for _ in 0..2 {
        world.psp.pay(&charge.txid, 1_000);
        world.call_back(charge.txid.as_str()).await;
        world.work().await;
    }
    assert_eq!((read(&world, &charge).await, world.store.payments().len()), (ChargeStatus::Paid, 2));
    let before = world.store.commits();
    world.call_back(charge.txid.as_str()).await;
    world.work().await;
    assert_eq!(world.store.commits() - before, 2, "the callback is noted and done, and nothing else is tried");
    world.check().await;
}
