//! The crypto processor and the source of exchange rates, each behind its breaker. Calls through a breaker are counted and timed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId, Rate, Side};
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_ports::{
    AcquirerError, CodeOutcome, CryptoCallback, CryptoDepositOrder, CryptoProcessor, CryptoWithdrawalOrder,
    ExchangeRates, ListRequest, UpstreamDeposit, UpstreamPage, UpstreamWithdrawal, UsdRate,
};
use jiff::Timestamp;

use crate::breaker::MonotonicClock;
use crate::guard::Guard;

/// A processor behind its breaker.
pub struct GuardedProcessor {
    inner: Arc<dyn CryptoProcessor>,
    guard: Guard,
}

/// A source of exchange rates behind its breaker.
pub struct GuardedRates {
    inner: Arc<dyn ExchangeRates>,
    guard: Guard,
}

impl GuardedProcessor {
    /// Puts a processor behind a closed breaker. The processor's name labels the metrics.
    #[must_use]
    pub fn new(inner: Arc<dyn CryptoProcessor>) -> Self {
        let clock: MonotonicClock = Arc::new(Instant::now);
        let guard = Guard::new(inner.name().as_str(), clock);
        Self { inner, guard }
    }
}

impl GuardedRates {
    /// Puts a source behind a closed breaker. `name` labels the metrics.
    #[must_use]
    pub fn new(name: &str, inner: Arc<dyn ExchangeRates>) -> Self {
        let clock: MonotonicClock = Arc::new(Instant::now);
        Self { inner, guard: Guard::new(name, clock) }
    }
}

#[async_trait]
impl ExchangeRates for GuardedRates {
    async fn usd_rate(&self, now: Timestamp, budget: Duration) -> Result<UsdRate, AcquirerError> {
        self.guard.call("usd_rate", budget, self.inner.usd_rate(now, budget)).await
    }
}

#[async_trait]
impl CryptoProcessor for GuardedProcessor {
    fn name(&self) -> &AcquirerName {
        self.inner.name()
    }

    async fn minimum(&self, side: Side, currency: Currency, budget: Duration) -> Result<CryptoAmount, AcquirerError> {
        self.guard.call("minimum", budget, self.inner.minimum(side, currency, budget)).await
    }

    async fn usdt_per_coin(&self, side: Side, currency: Currency, budget: Duration) -> Result<Rate, AcquirerError> {
        let work = self.inner.usdt_per_coin(side, currency, budget);
        // The price of USDT in USDT needs no request, so the breaker has no outcome to record.
        if currency.is_usdt() { work.await } else { self.guard.call("usdt_per_coin", budget, work).await }
    }

    async fn accepts_address(&self, address: &Address, budget: Duration) -> Result<bool, AcquirerError> {
        self.guard.call("accepts_address", budget, self.inner.accepts_address(address, budget)).await
    }

    async fn create_deposit(
        &self,
        order: &CryptoDepositOrder,
        budget: Duration,
    ) -> Result<UpstreamDeposit, AcquirerError> {
        self.guard.call("create_deposit", budget, self.inner.create_deposit(order, budget)).await
    }

    async fn get_deposit(&self, id: &ProcessorId, budget: Duration) -> Result<UpstreamDeposit, AcquirerError> {
        self.guard.call("get_deposit", budget, self.inner.get_deposit(id, budget)).await
    }

    async fn find_deposit(
        &self,
        id: CryptoDepositId,
        budget: Duration,
    ) -> Result<Option<UpstreamDeposit>, AcquirerError> {
        self.guard.call("find_deposit", budget, self.inner.find_deposit(id, budget)).await
    }

    async fn list_deposits(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamDeposit>, AcquirerError> {
        self.guard.call("list_deposits", budget, self.inner.list_deposits(request, budget)).await
    }

    async fn create_withdrawal(
        &self,
        order: &CryptoWithdrawalOrder,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        self.guard.call("create_withdrawal", budget, self.inner.create_withdrawal(order, budget)).await
    }

    async fn verify_withdrawal(
        &self,
        batch: &ProcessorId,
        at: Timestamp,
        budget: Duration,
    ) -> Result<CodeOutcome, AcquirerError> {
        // If the current one-time code was used before, the call succeeds without a request. So the breaker does not count its outcome.
        self.guard.call_uncounted("verify_withdrawal", budget, self.inner.verify_withdrawal(batch, at, budget)).await
    }

    async fn get_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        batch: &ProcessorId,
        budget: Duration,
    ) -> Result<UpstreamWithdrawal, AcquirerError> {
        self.guard.call("get_withdrawal", budget, self.inner.get_withdrawal(id, batch, budget)).await
    }

    async fn find_withdrawal(
        &self,
        id: CryptoWithdrawalId,
        budget: Duration,
    ) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
        self.guard.call("find_withdrawal", budget, self.inner.find_withdrawal(id, budget)).await
    }

    async fn list_withdrawals(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamWithdrawal>, AcquirerError> {
        self.guard.call("list_withdrawals", budget, self.inner.list_withdrawals(request, budget)).await
    }

    async fn balances(&self, budget: Duration) -> Result<Vec<CryptoAmount>, AcquirerError> {
        self.guard.call("balances", budget, self.inner.balances(budget)).await
    }

    fn read_callback(&self, signature: &str, body: &[u8]) -> Result<Option<CryptoCallback>, AcquirerError> {
        self.inner.read_callback(signature, body)
    }
}
