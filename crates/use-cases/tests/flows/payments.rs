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
use cais_testkit::psp::OrderReply;
use cais_use_cases::SyncGate;
use cais_use_cases::charges::cancel::cancel;
use cais_use_cases::charges::fetch::fetch;
use cais_use_cases::charges::{ChargeName, expire};
use serde_json::Value;

use crate::bed::{TestBed, named, ten_reais};

/// The progress of a return that the acquirer has made.
const RETURNED: UpstreamProgress = UpstreamProgress::Done { at: None };

/// Creates a test bed with fees of R$ 0.50 and 1 %.
async fn with_fee() -> TestBed {
    let rule = FeeRule::try_new(Money::from_centavos(50), Percentage::parse("1").unwrap(), None, None).unwrap();
    let account = Account { fees: FeeSchedule::default().with(Operation::PixIn, rule), ..an_account() };
    TestBed::with(account, 1).await
}

fn roles(bed: &TestBed) -> Vec<(i64, PaymentRole)> {
    let mut roles: Vec<_> =
        bed.store.payments().iter().map(|credit| (credit.payment.amount.centavos(), credit.role)).collect();
    roles.sort_by_key(|(amount, _)| *amount);
    roles
}

async fn read(bed: &TestBed, charge: &Charge) -> ChargeStatus {
    bed.read(charge.id).await.unwrap().state.status()
}

#[tokio::test]
async fn exact_payment_is_credited_less_the_fee() {
    let bed = with_fee().await;
    let charge = bed.pending().await;
    let id = bed.psp.pay(&charge.txid, 1_000);
    let paid = bed.read(charge.id).await.unwrap();
    assert_eq!(paid.state.status(), ChargeStatus::Paid);
    assert_eq!(paid.state.settlement().unwrap().end_to_end_id, id);
    assert_eq!(bed.available(), 940);
    assert_eq!(bed.event_types(), [EventType::ChargePaid]);
    assert_eq!(roles(&bed), [(1_000, PaymentRole::Settles)]);
    bed.check().await;
}

#[tokio::test]
async fn surplus_is_credited_in_full() {
    let bed = with_fee().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 1_500);
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Paid);
    assert_eq!(bed.available(), 940 + 500);
    bed.check().await;
}

#[tokio::test]
async fn short_payment_is_credited_and_charge_stays_pending() {
    let bed = with_fee().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 999);
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Pending);
    assert_eq!((bed.available(), bed.event_types()), (999, vec![EventType::PaymentUnexpected]));
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Pending);
    assert_eq!(bed.available(), 999, "read again, credited once");

    bed.psp.pay(&charge.txid, 1_000);
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Paid);
    assert_eq!(bed.available(), 999 + 940);
    assert_eq!(roles(&bed), [(999, PaymentRole::Short), (1_000, PaymentRole::Settles)]);
    bed.check().await;
}

#[tokio::test]
async fn pix_returned_in_full_before_first_read_is_not_credited() {
    for (returned, available, status) in [(1_000, 0, ChargeStatus::Pending), (999, 1_000, ChargeStatus::Paid)] {
        let bed = TestBed::new().await;
        let charge = bed.pending().await;
        let pix = bed.psp.pay(&charge.txid, 1_000);
        bed.psp.add_unrequested_return(&pix, returned, RETURNED);
        assert_eq!(read(&bed, &charge).await, status);
        assert_eq!(bed.available(), available);
        bed.check().await;
    }
}

#[tokio::test]
async fn callback_for_pix_returned_before_first_read_is_done() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let pix = bed.psp.pay(&charge.txid, 1_000);
    bed.psp.add_unrequested_return(&pix, 1_000, RETURNED);
    bed.receive_callback(&format!("{}/{pix}", charge.txid)).await;
    bed.work().await;
    let states: Vec<_> = bed.store.callbacks().iter().map(|callback| callback.state).collect();
    assert_eq!((states, bed.available()), (vec![CallbackState::Done], 0));
    bed.check().await;
}

#[tokio::test]
async fn return_after_credit_keeps_balance() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    let paid = bed.psp.pay(&charge.txid, 1_000);
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Paid);
    bed.psp.add_unrequested_return(&paid, 1_000, RETURNED);
    bed.receive_callback(&format!("{}/{paid}", charge.txid)).await;
    bed.work().await;
    assert_eq!(bed.available(), 1_000);
    bed.check().await;
}

#[tokio::test]
async fn second_payment_is_credited_without_fee() {
    let bed = with_fee().await;
    let charge = bed.pending().await;
    let first = bed.psp.pay(&charge.txid, 1_000);
    bed.psp.pay(&charge.txid, 1_001);
    let paid = bed.read(charge.id).await.unwrap();
    assert_eq!(paid.state.settlement().unwrap().end_to_end_id, first);
    assert_eq!(bed.available(), 940 + 1_001);
    assert_eq!(bed.event_types(), [EventType::ChargePaid, EventType::PaymentUnexpected], "paid once");

    // The payment arrives after the charge is paid, with a callback.
    bed.psp.pay(&charge.txid, 1_002);
    bed.receive_callback(charge.txid.as_str()).await;
    bed.work().await;
    assert_eq!(bed.available(), 940 + 1_001 + 1_002);
    bed.check().await;
}

#[tokio::test]
async fn payment_that_raced_expiry_pays_charge() {
    let bed = with_fee().await;
    let charge = bed.pending().await;
    bed.clock.advance(Duration::from_hours(2));
    assert_eq!(expire::run_once(&bed.ports).await.unwrap().done, 1);
    assert_eq!(bed.status(charge.id), ChargeStatus::Expired);

    bed.psp.pay(&charge.txid, 1_000);
    bed.receive_callback(charge.txid.as_str()).await;
    bed.work().await;
    assert_eq!(bed.status(charge.id), ChargeStatus::Paid);
    assert_eq!(bed.available(), 940);
    assert_eq!(bed.event_types(), [EventType::ChargeExpired, EventType::ChargePaid]);
    bed.check().await;
}

#[tokio::test]
async fn payment_that_raced_cancellation_pays_charge() {
    let bed = with_fee().await;
    let charge = bed.pending().await;
    cancel(&bed.ports, &bed.account, &ChargeName::Id(charge.id)).await.unwrap();
    bed.psp.pay(&charge.txid, 1_000);
    bed.receive_callback(charge.txid.as_str()).await;
    bed.work().await;
    assert_eq!(bed.status(charge.id), ChargeStatus::Paid);
    assert_eq!(bed.available(), 940);
    assert_eq!(bed.event_types(), [EventType::ChargeCancelled, EventType::ChargePaid]);
    bed.check().await;
}

#[tokio::test]
async fn payment_of_abandoned_charge_is_credited_in_full() {
    let bed = with_fee().await;
    bed.psp.set_all(OrderReply::Refuses);
    bed.create("a", named("order-1", ten_reais())).await.unwrap_err();
    let charge = bed.only_charge();
    bed.psp.set_all(OrderReply::Accepts);
    bed.psp.issue_uncounted(&ChargeOrder {
        txid: charge.txid.clone(),
        amount: charge.terms.amount,
        expires_in_s: 3_600,
        payer: None,
        description: None,
    });
    bed.psp.pay(&charge.txid, 1_000);
    bed.receive_callback(charge.txid.as_str()).await;
    bed.work().await;
    assert_eq!(bed.available(), 1_000);
    assert_eq!(bed.status(charge.id), ChargeStatus::Abandoned, "the charge was never visible");
    let reasons: Vec<_> = unexpected(&bed).into_iter().map(|(reason, amount, _)| (reason, amount)).collect();
    assert_eq!(reasons, [("late".to_owned(), "10.00".to_owned())]);
    bed.check().await;
}

/// Returns the reason, the amount and the Pix of each `payment.unexpected`.
fn unexpected(bed: &TestBed) -> Vec<(String, String, String)> {
    let events = bed.store.events(bed.account.id);
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
    let bed = with_fee().await;
    let charge = bed.pending().await;
    let short = bed.psp.pay(&charge.txid, 999);
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Pending);
    let over = bed.psp.pay(&charge.txid, 1_500);
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Paid);
    let second = bed.psp.pay(&charge.txid, 700);
    for _ in 0..2 {
        bed.receive_callback(charge.txid.as_str()).await;
        bed.work().await;
    }
    let row = |reason: &str, amount: &str, pix: &EndToEndId| (reason.to_owned(), amount.to_owned(), pix.to_string());
    let expected =
        [row("underpaid", "9.99", &short), row("overpaid", "5.00", &over), row("duplicate", "7.00", &second)];
    assert_eq!(unexpected(&bed), expected);
    bed.check().await;
}

#[tokio::test]
async fn pix_under_two_charges_is_credited_once() {
    let bed = TestBed::new().await;
    let (one, two) = (bed.pending().await, bed.pending().await);
    let id = bed.psp.pay(&one.txid, 1_000);
    bed.psp.pay_as(&two.txid, 1_000, id);
    assert_eq!(read(&bed, &one).await, ChargeStatus::Paid);
    assert_eq!(read(&bed, &two).await, ChargeStatus::Pending, "the same Pix cannot pay both");
    assert_eq!((bed.available(), bed.store.payments().len()), (1_000, 1));
    bed.check().await;
}

#[tokio::test]
async fn concurrent_readers_credit_payment_once() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    bed.psp.pay(&charge.txid, 700);
    bed.psp.pay(&charge.txid, 1_000);
    let readers = (0..32).map(|_| {
        let (ports, account, name) = (bed.ports.clone(), bed.account.id, ChargeName::Id(charge.id));
        tokio::spawn(async move { fetch(&ports, &SyncGate::new(), account, &name).await })
    });
    for reader in futures_util::future::join_all(readers).await {
        reader.unwrap().unwrap();
    }
    assert_eq!(read(&bed, &charge).await, ChargeStatus::Paid);
    assert_eq!((bed.available(), bed.store.payments().len()), (1_700, 2));
    assert_eq!(bed.event_types(), [EventType::PaymentUnexpected, EventType::ChargePaid]);
    bed.check().await;
}

#[tokio::test]
async fn credited_payment_is_not_committed_again_by_reads() {
    let bed = TestBed::new().await;
    let charge = bed.pending().await;
    for _ in 0..2 {
        bed.psp.pay(&charge.txid, 1_000);
        bed.receive_callback(charge.txid.as_str()).await;
        bed.work().await;
    }
    assert_eq!((read(&bed, &charge).await, bed.store.payments().len()), (ChargeStatus::Paid, 2));
    let before = bed.store.commits();
    bed.receive_callback(charge.txid.as_str()).await;
    bed.work().await;
    assert_eq!(bed.store.commits() - before, 2, "the callback is noted and done, and nothing else is tried");
    bed.check().await;
}
