//! The simulated crypto processor and source of rates. Each order of a deposit creates a payment, and each order of a
//! withdrawal a batch with one withdrawal. A repeated order creates a second payment or batch, because the processor does
//! not compare our identifiers.

mod deposits;
mod withdrawals;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId, Rate, Side};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{
    AcquirerError, Clock as _, CodeOutcome, CryptoCallback, CryptoDepositOrder, CryptoProcessor, CryptoWithdrawalOrder,
    ExchangeRates, ListRequest, UnreadableRow, UpstreamDeposit, UpstreamPage, UpstreamWithdrawal, UsdRate,
};
use jiff::Timestamp;

use crate::ManualClock;
use crate::builders::expect_ok;
use crate::psp::{Connection, LookupReply, OrderReply};
use withdrawals::{Batch, Late};

/// The number of rows in a page of the list of withdrawals.
const PAGE: usize = 2;

/// The replies and records of the processor.
pub struct State {
    /// The reply to orders of deposits and withdrawals.
    pub creating: OrderReply,
    /// The reply to the verification of a batch by a one-time code.
    pub verifying: OrderReply,
    /// The reply to reads of payments and withdrawals.
    pub lookup_reply: LookupReply,
    /// `true` if the processor accepts every address, `false` if it rejects every address.
    pub accepts_addresses: bool,
    /// `true` if the processor answers reads of minimums, prices, addresses and balances.
    pub prices: bool,
    /// The price in USDT of each coin but USDT; `None`: no reply.
    pub usdt_per_coin: Option<&'static str>,
    /// The processor's own minimum for an order, in coins; `None`: no reply.
    pub minimum: Option<&'static str>,
    /// The price of a dollar in BRL: the buying and the selling rate; `None`: no connection.
    pub brl_per_usd: Option<(&'static str, &'static str)>,
    /// The instant of publication of the price of a dollar; `None`: the current instant.
    pub published_at: Option<Timestamp>,
    /// The balances that can be sent.
    pub balances: Vec<CryptoAmount>,
    /// The payments, oldest first.
    pub payments: Vec<UpstreamDeposit>,
    /// The unreadable rows of the list of payments.
    pub unreadable: Vec<UnreadableRow>,
    batches: Vec<Batch>,
    late: Vec<Late>,
    /// The number of requests to create each withdrawal, by our identifier.
    requests: BTreeMap<CryptoWithdrawalId, u32>,
    verifications: u32,
    last_code: Option<i64>,
}

/// A simulated processor. Clones share its state.
#[derive(Clone)]
pub struct FakeProcessor {
    /// The processor's configured name.
    pub name: AcquirerName,
    clock: Arc<ManualClock>,
    state: Arc<Mutex<State>>,
    connection: Option<Arc<dyn Connection>>,
}

impl FakeProcessor {
    /// Creates a processor without records that accepts every order. Each coin but USDT costs 100,000 USDT, and a
    /// dollar costs R$ 5.00.
    #[must_use]
    pub fn new(clock: Arc<ManualClock>) -> Self {
        let state = State {
            creating: OrderReply::Accepts,
            verifying: OrderReply::Accepts,
            lookup_reply: LookupReply::Accurate,
            accepts_addresses: true,
            prices: true,
            usdt_per_coin: Some("100000"),
            minimum: Some("0"),
            brl_per_usd: Some(("5", "5")),
            published_at: None,
            balances: Vec::new(),
            payments: Vec::new(),
            unreadable: Vec::new(),
            batches: Vec::new(),
            late: Vec::new(),
            requests: BTreeMap::new(),
            verifications: 0,
            last_code: None,
        };
        let name = expect_ok(AcquirerName::parse("coins"));
        Self { name, clock, state: Arc::new(Mutex::new(state)), connection: None }
    }

    /// Returns the same processor, called through this connection.
    #[must_use]
    pub fn behind(&self, connection: Arc<dyn Connection>) -> Self {
        Self { connection: Some(connection), ..self.clone() }
    }

    /// Returns the state at the current instant: due late requests have arrived, and old unverified batches are rejected.
    pub fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pass_time(self.clock.now());
        state
    }

    async fn before_read(&self) {
        if let Some(connection) = &self.connection {
            connection.before_read().await;
        }
    }

    /// Makes one request with an effect.
    async fn order<T>(&self, request: impl FnOnce(&mut State, Timestamp) -> T + Send) -> T {
        if let Some(connection) = &self.connection {
            connection.before_order().await;
        }
        let reply = request(&mut self.state(), self.clock.now());
        if let Some(connection) = &self.connection {
            connection.after_order().await;
        }
        reply
    }

    /// Reads the records, or none of them if the processor hides them.
    async fn read<T>(&self, read: impl FnOnce(&[UpstreamDeposit], &[Batch]) -> T + Send) -> Result<T, AcquirerError> {
        self.before_read().await;
        let state = self.state();
        match state.lookup_reply {
            LookupReply::Accurate => Ok(read(&state.payments, &state.batches)),
            LookupReply::NotFound => Ok(read(&[], &[])),
            LookupReply::Silent => silent(),
            LookupReply::Down => down(),
        }
    }

    /// Returns the value that `read` returns. Fails without a reply if the value is `None` or `State::prices` is `false`.
    fn number<T>(&self, read: impl FnOnce(&State) -> Option<T>) -> Result<T, AcquirerError> {
        let state = self.state();
        read(&state).filter(|_| state.prices).map_or_else(silent, Ok)
    }
}

fn silent<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::OutcomeUnknown("no answer".to_owned()))
}

fn down<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::Unavailable("no connection".to_owned()))
}

fn refused<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::Refused("the amount is too small".to_owned()))
}

#[async_trait]
impl CryptoProcessor for FakeProcessor {
    fn name(&self) -> &AcquirerName {
        &self.name
    }

    async fn minimum(&self, _: Side, currency: Currency, _: Duration) -> Result<CryptoAmount, AcquirerError> {
        self.number(|state| state.minimum.map(|coins| expect_ok(CryptoAmount::parse(currency, coins))))
    }

    async fn usdt_per_coin(&self, _: Side, currency: Currency, _: Duration) -> Result<Rate, AcquirerError> {
        let rate = |text| expect_ok(Rate::parse(text));
        if currency.is_usdt() { Ok(rate("1")) } else { self.number(|state| state.usdt_per_coin.map(rate)) }
    }

    async fn accepts_address(&self, _: &Address, _: Duration) -> Result<bool, AcquirerError> {
        self.number(|state| Some(state.accepts_addresses))
    }

    async fn balances(&self, _: Duration) -> Result<Vec<CryptoAmount>, AcquirerError> {
        self.number(|state| Some(state.balances.clone()))
    }

    async fn create_deposit(&self, order: &CryptoDepositOrder, _: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        self.order(|state, now| state.create_deposit(order, now)).await
    }

    async fn get_deposit(&self, id: &ProcessorId, _: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        let found = self.read(|payments, _| payments.iter().find(|payment| payment.id == *id).cloned()).await?;
        found.map_or_else(silent, Ok)
    }

    async fn find_deposit(&self, id: CryptoDepositId, _: Duration) -> Result<Option<UpstreamDeposit>, AcquirerError> {
        let is_first = |one: &&UpstreamDeposit| one.order == Some(id) && one.parent.is_none();
        self.read(|payments, _| payments.iter().find(is_first).cloned()).await
    }

    async fn list_deposits(&self, _: ListRequest, _: Duration) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError> {
        let rows = self.read(|payments, _| payments.iter().rev().cloned().collect()).await?;
        Ok(UpstreamPage { unreadable: self.state().unreadable.clone(), ..UpstreamPage::new(rows, None) })
    }

    async fn create_withdrawal(
        &self,
        order: &CryptoWithdrawalOrder,
        _: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        self.order(|state, now| state.create_withdrawal(order, now)).await
    }

    async fn verify_withdrawal(
        &self,
        batch: &ProcessorId,
        at: Timestamp,
        _: Duration,
    ) -> Result<CodeOutcome, AcquirerError> {
        self.order(|state, _| state.verify(batch, at)).await
    }

    async fn get_withdrawal(
        &self,
        _: CryptoWithdrawalId,
        batch: &ProcessorId,
        _: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        let find = |batches: &[Batch]| batches.iter().find(|one| one.record.batch == *batch).map(Batch::record);
        let found = self.read(|_, batches| find(batches)).await?;
        found.ok_or_else(|| AcquirerError::OutcomeUnknown("the batch is missing".to_owned()))
    }

    async fn find_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        _: Duration,
    ) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
        let is_ours = |one: &&Batch| one.record.order == Some(id);
        let mut ours =
            self.read(|_, batches| batches.iter().filter(is_ours).map(Batch::record).collect::<Vec<_>>()).await?;
        if ours.len() > 1 {
            return Err(AcquirerError::OutcomeUnknown("several batches have the identifier".to_owned()));
        }
        Ok(ours.pop())
    }

    /// Returns pages of two withdrawals, whatever the period: the real list, too, contains rows outside of the period.
    async fn list_withdrawals(
        &self,
        request: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<UpstreamWithdrawal>, AcquirerError> {
        let first = usize::try_from(request.page).unwrap_or(usize::MAX).saturating_mul(PAGE);
        let page = |batches: &[Batch]| batches.iter().rev().skip(first).take(PAGE).map(Batch::record).collect();
        let rows: Vec<UpstreamWithdrawal> = self.read(|_, batches| page(batches)).await?;
        let next = (!rows.is_empty()).then_some(request.page.saturating_add(1));
        Ok(UpstreamPage::new(rows, next))
    }

    /// Reads `deposit:PAYMENT`, `BATCH` or `BATCH/ID`: the processor's id of a payment or of a batch, and our id of the
    /// withdrawal. The signature must be `signed`.
    fn read_callback(&self, signature: &str, body: &[u8]) -> Result<Option<CryptoCallback>, AcquirerError> {
        let text = String::from_utf8_lossy(body);
        let parse = |text: &str| {
            let id = ProcessorId::parse(text).ok().filter(|_| signature == "signed");
            id.ok_or_else(|| AcquirerError::Refused("the signature is wrong".to_owned()))
        };
        if let Some(payment) = text.strip_prefix("deposit:") {
            return Ok(Some(CryptoCallback::Deposit { id: parse(payment)?, parent: None, order: None }));
        }
        let (batch, order) = text.split_once('/').map_or((&*text, None), |(batch, order)| (batch, Some(order)));
        let order = order.and_then(|order| CryptoWithdrawalId::parse(order).ok());
        Ok(Some(CryptoCallback::Withdrawal { batch: parse(batch)?, order }))
    }
}

#[async_trait]
impl ExchangeRates for FakeProcessor {
    async fn usd_rate(&self, _: Timestamp, _: Duration) -> Result<UsdRate, AcquirerError> {
        let state = self.state();
        let Some((buy, sell)) = state.brl_per_usd else { return down() };
        let rate = |text| expect_ok(Rate::parse(text));
        let published_at = state.published_at.unwrap_or_else(|| self.clock.now());
        Ok(UsdRate { buy: rate(buy), sell: rate(sell), published_at })
    }
}
