//! An acquirer behind its breaker, with all calls counted and timed.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use cais_ports::{
    Acquirer, AcquirerError, CallbackItem, CallbackSignatures, ChargeOrder, DefenseOrder, DefenseReceipt, ListRequest,
    PayoutOrder, ReceivedPix, RefundOrder, ReturnedPart, UpstreamCharge, UpstreamInfraction, UpstreamPage,
    UpstreamPayout, UpstreamReturn,
};

use crate::breaker::MonotonicClock;
use crate::guard::{BreakerEffect, Guard, breaker_open};

/// An acquirer whose calls pass through a [`Guard`].
pub(crate) struct Guarded {
    name: AcquirerName,
    /// The client, which [`Guarded::replace`] replaces. Calls in flight continue with the client that began them.
    inner: RwLock<Arc<dyn Acquirer>>,
    guard: Guard,
}

impl Guarded {
    pub(crate) fn new(inner: Arc<dyn Acquirer>, clock: MonotonicClock) -> Self {
        let name = inner.name().clone();
        let guard = Guard::new(name.as_str(), clock);
        Self { name, inner: RwLock::new(inner), guard }
    }

    /// Replaces the client for later calls. The breaker keeps its state.
    pub(crate) fn replace(&self, client: Arc<dyn Acquirer>) {
        *self.inner.write().unwrap_or_else(PoisonError::into_inner) = client;
    }

    fn inner(&self) -> Arc<dyn Acquirer> {
        // Each change of the client is one assignment, so the lock's poison can be ignored.
        Arc::clone(&self.inner.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn is_available(&self) -> bool {
        self.guard.is_available()
    }

    /// Calls `create_charge`. Returns `None` if the breaker refused the call.
    pub(crate) async fn try_create(
        &self,
        order: &ChargeOrder,
        budget: Duration,
    ) -> Option<Result<UpstreamCharge, AcquirerError>> {
        let inner = self.inner();
        let work = inner.create_charge(order, budget);
        self.guard.attempt(("create", BreakerEffect::Counted), budget, work).await
    }
}

#[async_trait]
impl Acquirer for Guarded {
    fn name(&self) -> &AcquirerName {
        &self.name
    }

    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        self.try_create(order, budget).await.unwrap_or_else(|| Err(breaker_open()))
    }

    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        let inner = self.inner();
        let work = inner.find_charge(txid, budget);
        self.guard.call("find", budget, work).await
    }

    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        let inner = self.inner();
        let work = inner.cancel_charge(txid, budget);
        self.guard.call("cancel", budget, work).await
    }

    fn sends_payouts(&self) -> bool {
        self.inner().sends_payouts()
    }

    async fn send_payout(&self, order: &PayoutOrder, budget: Duration) -> Result<UpstreamPayout, AcquirerError> {
        let inner = self.inner();
        let work = inner.send_payout(order, budget);
        self.guard.call("send_payout", budget, work).await
    }

    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        budget: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError> {
        let inner = self.inner();
        let work = inner.find_payout(instruction_id, budget);
        self.guard.call("find_payout", budget, work).await
    }

    async fn find_payout_return(
        &self,
        return_id: &ReturnId,
        budget: Duration,
    ) -> Result<Option<ReturnedPart>, AcquirerError> {
        let inner = self.inner();
        let work = inner.find_payout_return(return_id, budget);
        self.guard.call("find_payout_return", budget, work).await
    }

    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError> {
        let inner = self.inner();
        let work = inner.send_refund(order, budget);
        self.guard.call("send_refund", budget, work).await
    }

    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError> {
        let inner = self.inner();
        let work = inner.find_refund(end_to_end_id, id, budget);
        self.guard.call("find_refund", budget, work).await
    }

    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        let inner = self.inner();
        let work = inner.list_received(request, budget);
        self.guard.call("list_received", budget, work).await
    }

    async fn list_sent(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        let inner = self.inner();
        let work = inner.list_sent(request, budget);
        self.guard.call("list_sent", budget, work).await
    }

    async fn list_payout_returns(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReturnedPart>, AcquirerError> {
        let inner = self.inner();
        let work = inner.list_payout_returns(request, budget);
        self.guard.call("list_payout_returns", budget, work).await
    }

    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        budget: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError> {
        let inner = self.inner();
        let work = inner.find_received(end_to_end_id, budget);
        self.guard.call("find_received", budget, work).await
    }

    fn reports_infractions(&self) -> bool {
        self.inner().reports_infractions()
    }

    fn lists_returns(&self) -> bool {
        self.inner().lists_returns()
    }

    async fn list_infractions(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        let inner = self.inner();
        let work = inner.list_infractions(request, budget);
        self.guard.call_uncounted("list_infractions", budget, work).await
    }

    async fn send_defense(&self, order: &DefenseOrder, budget: Duration) -> Result<DefenseReceipt, AcquirerError> {
        let inner = self.inner();
        let work = inner.send_defense(order, budget);
        self.guard.call_uncounted("send_defense", budget, work).await
    }

    fn verify_callback(&self, body: &[u8], signatures: &CallbackSignatures) -> Result<(), AcquirerError> {
        self.inner().verify_callback(body, signatures)
    }

    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
        self.inner().callbacks(body)
    }

    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError> {
        let inner = self.inner();
        let work = inner.register_callback(url, budget);
        self.guard.call("register_callback", budget, work).await
    }
}
