//! Tests the adapters against the sandbox, which validates requests strictly and varies the types of fields as the processor does.

use std::time::Duration;

use cais_acquirers::{NowPayments, NowPaymentsConfig, Ptax, PtaxConfig, Secret};
use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::{Address, CryptoAmount, Currency, Rate, Side};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{
    CodeOutcome, CryptoCallback, CryptoDepositOrder, CryptoProcessor as _, CryptoWithdrawalOrder, ExchangeRates as _,
    ListRequest, UpstreamDepositStatus, UpstreamWithdrawalStatus,
};
use cais_sandbox::{
    CoinValues, Control, CryptoDeposit, CryptoSettings, Fault, FaultMode, FaultTarget, PayoutShape, Sandbox,
    SandboxConfig, WithdrawalOutcome,
};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use uuid::Uuid;

use super::answers::{self, withdrawal_order};
use crate::answers::{BUDGET, http, kind, reason};
use crate::server::{Act, Seen, Server};

/// The budget of calls that the sandbox never answers.
const SHORT: Duration = Duration::from_millis(700);

struct Bed {
    processor: NowPayments,
    ptax: Ptax,
    control: Control,
    sandbox: Sandbox,
    callbacks: UnboundedReceiver<Seen>,
    _receiver: Server,
}

/// Returns the current instant: the sandbox uses the machine's clock.
#[expect(clippy::disallowed_methods, reason = "the sandbox has the machine's clock")]
fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns a UUID of version 7 of the current instant.
fn uuid() -> Uuid {
    let ms = u128::try_from(now().as_millisecond()).unwrap();
    Uuid::from_u128(ms << 80 | 7 << 76 | 2 << 62 | 1)
}

fn coins(text: &str) -> CryptoAmount {
    CryptoAmount::parse(Currency::Btc, text).unwrap()
}

fn order() -> CryptoDepositOrder {
    CryptoDepositOrder { id: CryptoDepositId::new(uuid()), amount: coins("0.17070286") }
}

fn withdrawal() -> CryptoWithdrawalOrder {
    CryptoWithdrawalOrder { id: CryptoWithdrawalId::new(uuid()), ..withdrawal_order() }
}

fn adapter(sandbox: &Sandbox, callback_url: Option<String>) -> NowPayments {
    let credentials = sandbox.crypto_credentials();
    let config = NowPaymentsConfig {
        api_key: Secret::new(credentials.api_key.as_str()),
        email: credentials.email.clone(),
        password: Secret::new(credentials.password.as_str()),
        totp_secret: Secret::new(credentials.totp_secret.as_str()),
        ipn_secret: Secret::new(credentials.ipn_secret.as_str()),
        callback_url,
        ..answers::config(&credentials.base_url)
    };
    NowPayments::new(&config).unwrap()
}

impl Bed {
    async fn start() -> Self {
        let sandbox = Sandbox::start(SandboxConfig::default()).await.unwrap();
        let (sender, callbacks) = unbounded_channel();
        let receiver = Server::start(move |seen, _| {
            sender.send(seen.clone()).unwrap();
            Act::Reply(http(200, "application/json", ""))
        })
        .await;
        let credentials = sandbox.crypto_credentials();
        let processor = adapter(&sandbox, Some(receiver.url()));
        let ptax = PtaxConfig { base_url: credentials.ptax_base_url.clone(), ..PtaxConfig::default() };
        let control = sandbox.control();
        let balance = CoinValues { balance: Some("1000".to_owned()), ..CoinValues::default() };
        control.set_crypto_coin("usdtbsc", &balance).unwrap();
        let ptax = Ptax::new(&ptax).unwrap();
        Self { processor, ptax, control, sandbox, callbacks, _receiver: receiver }
    }

    /// Returns the adapter of another node, with its own record of used codes.
    fn other_node(&self) -> NowPayments {
        adapter(&self.sandbox, None)
    }

    /// Returns the resource of the next callback.
    async fn called_back(&mut self) -> CryptoCallback {
        let seen = tokio::time::timeout(BUDGET, self.callbacks.recv()).await.unwrap().unwrap();
        let read = self.processor.read_callback(seen.header("x-nowpayments-sig"), seen.body.as_bytes());
        read.unwrap().unwrap()
    }

    fn fault(&self, mode: FaultMode, part: &str) {
        let fault = Fault { mode, latency: SHORT };
        self.control.set_faults_of(FaultTarget::Crypto, fault, Some(part)).unwrap();
    }

    /// Returns the number of withdrawals with our identifier at the processor.
    fn sent(&self, id: CryptoWithdrawalId) -> usize {
        let ledger = self.control.ledger().unwrap().crypto;
        let ours = |item: &&cais_sandbox::CryptoWithdrawalItem| item.unique_external_id == Some(id.to_string());
        ledger.withdrawals.iter().filter(ours).count()
    }
}

#[tokio::test]
async fn deposit_is_created_paid_and_credited() {
    let mut bed = Bed::start().await;
    let order = order();
    let minimum = bed.processor.minimum(Side::Deposit, Currency::Btc, BUDGET).await.unwrap();
    assert!(minimum.units() < order.amount.units());
    let created = bed.processor.create_deposit(&order, BUDGET).await.unwrap();
    assert_eq!((created.status, created.asked), (UpstreamDepositStatus::Waiting, Some(order.amount)));
    bed.control.pay_crypto(created.id.as_str(), &CryptoDeposit::default()).unwrap();
    let paid = loop {
        let named = bed.called_back().await;
        let wanted = CryptoCallback::Deposit { id: created.id.clone(), parent: None, order: Some(order.id) };
        assert_eq!(named, wanted);
        let read = bed.processor.get_deposit(&created.id, BUDGET).await.unwrap();
        if read.status == UpstreamDepositStatus::Finished {
            break read;
        }
    };
    assert_eq!(paid.received, Some(ArrivedCoins::Supported(order.amount)));
    assert_eq!((paid.address, paid.order), (created.address, Some(order.id)));
    assert_eq!(bed.processor.find_deposit(order.id, BUDGET).await.unwrap().map(|found| found.id), Some(created.id));
    let balances = bed.processor.balances(BUDGET).await.unwrap();
    let btc = balances.into_iter().find(|balance| balance.currency() == Currency::Btc).unwrap();
    assert!(!btc.is_zero());
}

#[tokio::test]
async fn second_and_wrong_payments_are_children() {
    let bed = Bed::start().await;
    let order = order();
    let first = bed.processor.create_deposit(&order, BUDGET).await.unwrap();
    let half = CryptoDeposit { amount: Some("0.08".to_owned()), ..CryptoDeposit::default() };
    bed.control.pay_crypto(first.id.as_str(), &CryptoDeposit::default()).unwrap();
    let second = bed.control.pay_crypto(first.id.as_str(), &half).unwrap();
    let wrong =
        CryptoDeposit { amount: Some("7.5".to_owned()), currency: Some("ltc".to_owned()), ..CryptoDeposit::default() };
    let wrong = bed.control.pay_crypto(first.id.as_str(), &wrong).unwrap();
    let request = ListRequest { from: now() - SignedDuration::from_hours(1), to: now(), page: 0 };
    let page = bed.processor.list_deposits(request, BUDGET).await.unwrap();
    assert_eq!((page.rows.len(), page.unreadable, page.next), (3, vec![], None));
    let child = |id: &str| page.rows.iter().find(|row| row.id.as_str() == id).unwrap();
    assert_eq!(child(&second).parent.as_ref(), Some(&first.id));
    assert_eq!(child(&second).received, Some(ArrivedCoins::Supported(coins("0.08"))));
    let ltc = CryptoAmount::parse(Currency::Ltc, "7.5").unwrap();
    assert_eq!(child(&wrong).received, Some(ArrivedCoins::Supported(ltc)));
    let found = bed.processor.find_deposit(order.id, BUDGET).await.unwrap();
    assert_eq!(found.map(|found| found.id), Some(first.id));
}

#[tokio::test]
async fn withdrawal_is_created_verified_and_finished() {
    let mut bed = Bed::start().await;
    let order = withdrawal();
    assert_eq!(bed.processor.accepts_address(&order.address, BUDGET).await, Ok(true));
    let minimum = bed.processor.minimum(Side::Withdrawal, Currency::UsdtBsc, BUDGET).await.unwrap();
    assert!(minimum.units() <= order.amount.units());
    let created = bed.processor.create_withdrawal(&order, BUDGET).await.unwrap();
    assert_eq!((created.status, created.order), (UpstreamWithdrawalStatus::Unverified, Some(order.id)));
    bed.processor.verify_withdrawal(&created.batch, now(), BUDGET).await.unwrap();
    // A verified batch refuses a second code; its status shows the outcome.
    let later = now() + SignedDuration::from_secs(30);
    assert_eq!(kind(&bed.processor.verify_withdrawal(&created.batch, later, BUDGET).await), "unavailable");
    let finished = loop {
        assert!(matches!(bed.called_back().await, CryptoCallback::Withdrawal { batch, .. } if batch == created.batch));
        let read = bed.processor.get_withdrawal(order.id, &created.batch, BUDGET).await.unwrap();
        if read.status == UpstreamWithdrawalStatus::Finished {
            break read;
        }
    };
    assert!(finished.tx_hash.is_some() && finished.amount == order.amount);
    for payout_shape in [PayoutShape::Array, PayoutShape::Withdrawals, PayoutShape::Payouts, PayoutShape::Object] {
        bed.control.set_crypto_settings(CryptoSettings { payout_shape, ..CryptoSettings::default() });
        let read = bed.processor.get_withdrawal(order.id, &created.batch, BUDGET).await.unwrap();
        assert_eq!(read, finished, "{payout_shape:?}");
    }
    assert_eq!(bed.processor.find_withdrawal(order.id, BUDGET).await, Ok(Some(finished)));
    assert_eq!(bed.sent(order.id), 1);
}

/// Each node derives the same code, and the processor accepts it once. The refused batch waits for the next code.
#[tokio::test]
async fn code_of_another_node_is_refused_and_the_next_accepted() {
    let bed = Bed::start().await;
    bed.control.set_crypto_settings(CryptoSettings {
        totp_once: true,
        withdrawal_outcome: WithdrawalOutcome::Stay,
        ..CryptoSettings::default()
    });
    let other = bed.other_node();
    let (one, two) = (withdrawal(), CryptoWithdrawalOrder { id: answers::withdrawal_id(), ..withdrawal_order() });
    let first = bed.processor.create_withdrawal(&one, BUDGET).await.unwrap();
    let second = other.create_withdrawal(&two, BUDGET).await.unwrap();
    let at = now();
    bed.processor.verify_withdrawal(&first.batch, at, BUDGET).await.unwrap();
    assert_eq!(kind(&other.verify_withdrawal(&second.batch, at, BUDGET).await), "unavailable");
    let waiting = other.get_withdrawal(two.id, &second.batch, BUDGET).await.unwrap();
    assert_eq!(waiting.status, UpstreamWithdrawalStatus::Unverified);
    // Neither node sends the refused code again.
    assert_eq!(other.verify_withdrawal(&second.batch, at, BUDGET).await, Ok(CodeOutcome::UsedBefore));
    let next_step = at + SignedDuration::from_secs(30);
    other.verify_withdrawal(&second.batch, next_step, BUDGET).await.unwrap();
    for (id, batch) in [(one.id, first.batch), (two.id, second.batch)] {
        let read = bed.processor.get_withdrawal(id, &batch, BUDGET).await.unwrap();
        assert_eq!((read.status, bed.sent(id)), (UpstreamWithdrawalStatus::Processing, 1));
    }
    let request = ListRequest { from: at - SignedDuration::from_hours(1), to: at, page: 0 };
    let listed = other.list_withdrawals(request, BUDGET).await.unwrap();
    let named: Vec<_> = listed.rows.iter().map(|row| row.order).collect();
    assert_eq!((named, listed.next), (vec![Some(two.id), Some(one.id)], Some(1)));
    assert!(listed.rows.iter().all(|row| row.created_at.is_some()));
    let last = other.list_withdrawals(ListRequest { page: 1, ..request }, BUDGET).await.unwrap();
    assert_eq!((last.rows.len(), last.next), (0, None));
}

#[tokio::test]
async fn outcome_of_a_verified_withdrawal_is_read() {
    for (outcome, wanted) in [
        (WithdrawalOutcome::Reject, UpstreamWithdrawalStatus::Rejected),
        (WithdrawalOutcome::Fail, UpstreamWithdrawalStatus::Failed),
    ] {
        let bed = Bed::start().await;
        let order = withdrawal();
        let created = bed.processor.create_withdrawal(&order, BUDGET).await.unwrap();
        bed.processor.verify_withdrawal(&created.batch, now(), BUDGET).await.unwrap();
        bed.control.move_crypto_withdrawal(created.batch.as_str(), outcome).unwrap();
        assert_eq!(bed.processor.get_withdrawal(order.id, &created.batch, BUDGET).await.unwrap().status, wanted);
    }
}

/// The order is sent once, even if the reply is lost, and the look-up shows the outcome.
#[tokio::test]
async fn withdrawal_with_lost_reply_is_found_by_look_up() {
    for (mode, outcome, sent) in [
        (FaultMode::DropReply, "unknown", 1),
        (FaultMode::ErrorAfter, "unknown", 1),
        (FaultMode::Truncated, "unknown", 1),
        (FaultMode::Error, "unknown", 0),
        (FaultMode::Hang, "unknown", 0),
        (FaultMode::Html, "unknown", 0),
        (FaultMode::RateLimited, "unavailable", 0),
        (FaultMode::Down, "unavailable", 0),
    ] {
        let bed = Bed::start().await;
        let order = withdrawal();
        bed.fault(mode, "/v1/payout");
        let result = bed.processor.create_withdrawal(&order, SHORT).await;
        assert_eq!(kind(&result), outcome, "{mode:?}: {}", reason(&result));
        bed.fault(FaultMode::Ok, "/v1/payout");
        let found = bed.processor.find_withdrawal(order.id, BUDGET).await.unwrap();
        assert_eq!((found.is_some(), bed.sent(order.id)), (sent == 1, sent), "{mode:?}");
    }
}

#[tokio::test]
async fn refusal_and_missing_balance_are_distinguished() {
    let bed = Bed::start().await;
    let amount = |text| CryptoAmount::parse(Currency::UsdtBsc, text).unwrap();
    for (sent, wanted) in [("0.000001", "refused"), ("1000000", "unavailable")] {
        let order = CryptoWithdrawalOrder { amount: amount(sent), ..withdrawal() };
        let result = bed.processor.create_withdrawal(&order, BUDGET).await;
        assert_eq!(kind(&result), wanted, "{sent}: {}", reason(&result));
        assert_eq!(bed.sent(order.id), 0);
    }
    // The processor permits withdrawals from listed addresses of callers only.
    bed.control.set_crypto_settings(CryptoSettings { payouts_allowed: false, ..CryptoSettings::default() });
    assert_eq!(kind(&bed.processor.create_withdrawal(&withdrawal(), BUDGET).await), "unavailable");
}

#[tokio::test]
async fn expired_token_is_renewed_at_the_processor() {
    let bed = Bed::start().await;
    assert_eq!(bed.processor.find_withdrawal(withdrawal().id, BUDGET).await, Ok(None));
    // The cached token is now refused.
    bed.control.set_clock_offset(600).unwrap();
    let order = withdrawal();
    assert!(bed.processor.create_withdrawal(&order, BUDGET).await.is_ok());
    assert_eq!(bed.sent(order.id), 1);
}

#[tokio::test]
async fn price_of_a_coin_is_the_market_price() {
    let bed = Bed::start().await;
    let price = CoinValues { price: Some("97123.45".to_owned()), ..CoinValues::default() };
    bed.control.set_crypto_coin("btc", &price).unwrap();
    // 1,000 USDT buy 0.01029617 BTC, rounded down.
    for (side, wanted) in [(Side::Deposit, "97123.45"), (Side::Withdrawal, "97123.493493211554")] {
        let found = bed.processor.usdt_per_coin(side, Currency::Btc, BUDGET).await;
        assert_eq!(found, Ok(Rate::parse(wanted).unwrap()), "{side:?}");
    }
    let address = Address::parse(Currency::Trx, "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t").unwrap();
    assert_eq!(bed.processor.accepts_address(&address, BUDGET).await, Ok(true));
}

#[tokio::test]
async fn dollar_rate_survives_weekends_and_ends_with_its_source() {
    let bed = Bed::start().await;
    // The source has no rates after yesterday. It returns its last rate for some days, and then none.
    bed.control.set_ptax_age(1);
    bed.control.set_ptax_rate("5.4056", None).unwrap();
    let rate = bed.ptax.usd_rate(now(), BUDGET).await.unwrap();
    assert_eq!((rate.sell, rate.buy), (Rate::parse("5.4056").unwrap(), Rate::parse("5.405").unwrap()));
    let age = now().duration_since(rate.published_at);
    assert!(!age.is_negative() && age < SignedDuration::from_hours(4 * 24), "{age}");
    for (days, wanted) in [(4, "ok"), (14, "unavailable")] {
        let at = SignedDuration::from_hours(days * 24);
        bed.control.set_clock_offset(at.as_secs()).unwrap();
        let result = bed.ptax.usd_rate(now() + at, BUDGET).await;
        assert_eq!(kind(&result), wanted, "{days}: {}", reason(&result));
        if let Ok(stale) = result {
            assert_eq!(stale.published_at, rate.published_at);
        }
    }
    drop(bed.sandbox);
}
