//! The simulated crypto processor of withdrawals. Every creation makes a new batch, also a repeat with the same identifier.

mod batches;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId, Rate, Side};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{
    AcquirerError, Clock as _, CryptoCallback, CryptoDepositOrder, CryptoProcessor, CryptoWithdrawalOrder,
    ExchangeRates, ListRequest, UpstreamDeposit, UpstreamPage, UpstreamWithdrawal, UpstreamWithdrawalStatus, UsdRate,
};
use jiff::{SignedDuration, Timestamp};

use crate::ManualClock;
use crate::builders::right;
use crate::psp::{Connection, Looking, Sending};

use self::batches::{Late, SetStatus as _, State, down, silent};

/// The time after which the processor rejects a batch that is not verified.
pub const UNVERIFIED_FOR: SignedDuration = SignedDuration::from_hours(1);

/// A simulated processor. Clones share it.
#[derive(Clone)]
pub struct FakeProcessor {
    /// Its configured name.
    pub name: AcquirerName,
    clock: Arc<ManualClock>,
    state: Arc<Mutex<State>>,
    connection: Option<Arc<dyn Connection>>,
}

impl FakeProcessor {
    /// Creates a processor without batches that accepts every order. BTC costs 100,000 USDT.
    #[must_use]
    pub fn new(clock: Arc<ManualClock>) -> Self {
        let state = State {
            creating: Sending::Takes,
            verifying: Sending::Takes,
            looking: Looking::Tells,
            accepts_addresses: true,
            prices: true,
            usdt_per_coin: "100000",
            batches: Vec::new(),
            late: Vec::new(),
            requests: BTreeMap::new(),
            verifications: 0,
            last_code: None,
            balances: Vec::new(),
        };
        let name = right(AcquirerName::parse("coins"));
        Self { name, clock, state: Arc::new(Mutex::new(state)), connection: None }
    }

    /// Returns the same processor behind a connection.
    #[must_use]
    pub fn behind(&self, connection: Arc<dyn Connection>) -> Self {
        Self { connection: Some(connection), ..self.clone() }
    }

    /// Sets the reply to creations.
    pub fn set(&self, creating: Sending) {
        self.state().creating = creating;
    }

    /// Sets the reply to verifications.
    pub fn set_verifying(&self, verifying: Sending) {
        self.state().verifying = verifying;
    }

    /// Sets the reply to reads of withdrawals.
    pub fn set_looking(&self, looking: Looking) {
        self.state().looking = looking;
    }

    /// Sets the reply to checks of addresses.
    pub fn set_accepts_addresses(&self, accepts: bool) {
        self.state().accepts_addresses = accepts;
    }

    /// Starts or stops replies to reads of prices.
    pub fn set_prices(&self, prices: bool) {
        self.state().prices = prices;
    }

    /// Sets the price of a coin.
    pub fn set_usdt_per_coin(&self, usdt: &'static str) {
        self.state().usdt_per_coin = usdt;
    }

    /// Sets the balances that can be sent.
    pub fn set_balances(&self, balances: &[CryptoAmount]) {
        self.state().balances = balances.to_vec();
    }

    /// Sets the status of every verified batch without an outcome.
    pub fn settle_open(&self, status: UpstreamWithdrawalStatus) {
        for batch in &mut self.state().batches {
            if batch.record.status == UpstreamWithdrawalStatus::Processing {
                batch.record.set(status);
            }
        }
    }

    /// Sets the status of every batch that is shown as `Failed`: the processor sends its coins, or never will.
    pub fn end_failed(&self, status: UpstreamWithdrawalStatus) {
        for batch in &mut self.state().batches {
            if batch.record.status == UpstreamWithdrawalStatus::Failed {
                batch.record.set(status);
            }
        }
    }

    /// Sets the status of every batch.
    pub fn set_status(&self, status: UpstreamWithdrawalStatus) {
        for batch in &mut self.state().batches {
            batch.record.set(status);
        }
    }

    /// Removes every batch from the records.
    pub fn forget_batches(&self) {
        self.state().batches.clear();
    }

    /// Returns every batch, oldest first.
    #[must_use]
    pub fn batches(&self) -> Vec<UpstreamWithdrawal> {
        self.state().batches.iter().map(|batch| batch.record.clone()).collect()
    }

    /// Returns the number of requests of a creation that left us, of all withdrawals.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.state().requests.values().sum()
    }

    /// Returns the withdrawals whose creation was requested, with the number of requests.
    #[must_use]
    pub fn requests_by_id(&self) -> BTreeMap<CryptoWithdrawalId, u32> {
        self.state().requests.clone()
    }

    /// Returns the number of accepted codes.
    #[must_use]
    pub fn verifications(&self) -> u32 {
        self.state().verifications
    }

    /// Returns the state, after the arrival of late requests and the rejection of batches that were never verified.
    fn state(&self) -> MutexGuard<'_, State> {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (arrived, late): (Vec<Late>, _) =
            std::mem::take(&mut state.late).into_iter().partition(|(at, _)| *at <= now);
        state.late = late;
        for (at, order) in arrived {
            state.create(&order, at);
        }
        for batch in &mut state.batches {
            let is_unverified = batch.record.status == UpstreamWithdrawalStatus::Unverified;
            if is_unverified && now.duration_since(batch.created_at) >= UNVERIFIED_FOR {
                batch.record.set(UpstreamWithdrawalStatus::Rejected);
            }
        }
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
}

#[async_trait]
impl CryptoProcessor for FakeProcessor {
    fn name(&self) -> &AcquirerName {
        &self.name
    }

    async fn minimum(&self, _: Side, currency: Currency, _: Duration) -> Result<CryptoAmount, AcquirerError> {
        if self.state().prices { Ok(CryptoAmount::zero(currency)) } else { silent() }
    }

    async fn usdt_per_coin(&self, currency: Currency, _: Duration) -> Result<Rate, AcquirerError> {
        let state = self.state();
        match (currency.is_usdt(), state.prices) {
            (true, _) => Ok(right(Rate::parse("1"))),
            (false, true) => Ok(right(Rate::parse(state.usdt_per_coin))),
            (false, false) => silent(),
        }
    }

    async fn accepts_address(&self, _: &Address, _: Duration) -> Result<bool, AcquirerError> {
        let state = self.state();
        if state.prices { Ok(state.accepts_addresses) } else { silent() }
    }

    async fn create_deposit(&self, _: &CryptoDepositOrder, _: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        down()
    }

    async fn get_deposit(&self, _: &ProcessorId, _: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        down()
    }

    async fn find_deposit(&self, _: CryptoDepositId, _: Duration) -> Result<Option<UpstreamDeposit>, AcquirerError> {
        down()
    }

    async fn list_deposits(&self, _: ListRequest, _: Duration) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError> {
        down()
    }

    async fn create_withdrawal(
        &self,
        order: &CryptoWithdrawalOrder,
        _: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        self.order(|state, now| state.reply(order, now)).await
    }

    async fn verify_withdrawal(&self, batch: &ProcessorId, at: Timestamp, _: Duration) -> Result<(), AcquirerError> {
        self.order(|state, _| state.verify(batch, at)).await
    }

    async fn get_withdrawal(
        &self,
        _: CryptoWithdrawalId,
        batch: &ProcessorId,
        _: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        self.before_read().await;
        self.state().look(|batches| {
            let found = batches.iter().find(|one| one.record.batch == *batch).map(|one| one.record.clone());
            found.ok_or_else(|| AcquirerError::OutcomeUnknown("the batch is missing".to_owned()))
        })
    }

    async fn find_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        _: Duration,
    ) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
        self.before_read().await;
        self.state().look(|batches| {
            let mut ours = batches.iter().filter(|one| one.record.order == Some(id)).map(|one| one.record.clone());
            match (ours.next(), ours.next()) {
                (found, None) => Ok(found),
                (_, Some(_)) => Err(AcquirerError::OutcomeUnknown("several batches have the identifier".to_owned())),
            }
        })
    }

    async fn balances(&self, _: Duration) -> Result<Vec<CryptoAmount>, AcquirerError> {
        let state = self.state();
        if state.prices { Ok(state.balances.clone()) } else { silent() }
    }

    /// Reads `batch` or `batch/id`. The signature must be `signed`.
    fn read_callback(&self, signature: &str, body: &[u8]) -> Result<Option<CryptoCallback>, AcquirerError> {
        let text = String::from_utf8_lossy(body);
        let (batch, order) = text.split_once('/').map_or((&*text, None), |(batch, order)| (batch, Some(order)));
        let batch = ProcessorId::parse(batch).ok().filter(|_| signature == "signed");
        let batch = batch.ok_or_else(|| AcquirerError::Refused("the signature is wrong".to_owned()))?;
        let order = order.and_then(|order| CryptoWithdrawalId::parse(order).ok());
        Ok(Some(CryptoCallback::Withdrawal { batch, order }))
    }
}

/// A source that publishes one price of the dollar at every instant.
pub struct FakeRates {
    /// The clock of the publication.
    pub clock: Arc<ManualClock>,
    /// BRL per dollar.
    pub brl_per_usd: &'static str,
}

#[async_trait]
impl ExchangeRates for FakeRates {
    async fn usd_rate(&self, _: Timestamp, _: Duration) -> Result<UsdRate, AcquirerError> {
        let rate = || right(Rate::parse(self.brl_per_usd));
        Ok(UsdRate { buy: rate(), sell: rate(), published_at: self.clock.now() })
    }
}
