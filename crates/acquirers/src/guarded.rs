//! An acquirer behind its breaker, with all calls counted and timed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use cais_ports::{
    Acquirer, AcquirerError, CallbackItem, ChargeOrder, DefenseOrder, DefenseReceipt, ListRequest, PayoutOrder,
    ReceivedPix, RefundOrder, UpstreamCharge, UpstreamInfraction, UpstreamPage, UpstreamPayout, UpstreamReturn,
};
use metrics::{counter, histogram};

use crate::breaker::{Breaker, MonotonicClock, Outcome};
use crate::http::observe;

/// The smallest budget of a call. With less, a call could fail only by our fault and would count against the breaker.
pub(crate) const MIN_BUDGET: Duration = Duration::from_millis(20);

/// The effect of a call on the breaker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// The outcome counts.
    Counts,
    /// The outcome does not count. One feature may be switched off (Efí's homologation answers 500 to all requests
    /// about infractions), and charges must not be affected.
    Aside,
}

/// Calls pass while the breaker allows them. Otherwise they fail at once with [`AcquirerError::Unavailable`].
pub(crate) struct Guarded {
    inner: Arc<dyn Acquirer>,
    breaker: Arc<Breaker>,
}

impl Guarded {
    pub(crate) fn new(inner: Arc<dyn Acquirer>, clock: MonotonicClock) -> Self {
        let breaker = Breaker::new(inner.name().as_str(), clock);
        Self { inner, breaker }
    }

    pub(crate) fn is_available(&self) -> bool {
        self.breaker.is_available()
    }

    /// Calls `create_charge`; `None` if the breaker refused the call.
    pub(crate) async fn try_create(
        &self,
        order: &ChargeOrder,
        budget: Duration,
    ) -> Option<Result<UpstreamCharge, AcquirerError>> {
        let work = self.inner.create_charge(order, budget);
        self.guard(("create", Weight::Counts), budget, work).await
    }

    /// Makes a call and reports to breaker and metrics; `None` if the breaker refused the call.
    async fn guard<T>(
        &self,
        (operation, weight): (&'static str, Weight),
        budget: Duration,
        work: impl Future<Output = Result<T, AcquirerError>> + Send,
    ) -> Option<Result<T, AcquirerError>> {
        if budget < MIN_BUDGET {
            let error = AcquirerError::Unavailable("the deadline has passed".to_owned());
            return Some(Err(error));
        }
        let Some(permit) = self.breaker.enter() else {
            self.count(operation, "left_alone");
            return None;
        };
        let started = Instant::now();
        let (result, answered) = observe(work).await;
        // A refused answer concerns one record. The institution is reachable.
        let of_an_error = if answered { Outcome::Answered } else { Outcome::Failed };
        let (outcome, label) = match &result {
            Ok(_) => (Outcome::Answered, "ok"),
            Err(AcquirerError::Refused(_)) => (Outcome::Answered, "refused"),
            Err(AcquirerError::Unavailable(_)) => (of_an_error, "unavailable"),
            Err(AcquirerError::OutcomeUnknown(_)) => (of_an_error, "unknown"),
        };
        match weight {
            Weight::Counts => permit.report(outcome),
            Weight::Aside => drop(permit),
        }
        self.count(operation, label);
        histogram!(
            "cais_acquirer_request_seconds",
            "acquirer" => self.inner.name().as_str().to_owned(),
            "operation" => operation
        )
        .record(started.elapsed().as_secs_f64());
        Some(result)
    }

    async fn guard_or_refuse<T>(
        &self,
        operation: &'static str,
        budget: Duration,
        work: impl Future<Output = Result<T, AcquirerError>> + Send,
    ) -> Result<T, AcquirerError> {
        self.guard((operation, Weight::Counts), budget, work).await.unwrap_or_else(|| Err(left_alone()))
    }

    /// Makes a call whose outcome does not count.
    async fn guard_aside<T>(
        &self,
        operation: &'static str,
        budget: Duration,
        work: impl Future<Output = Result<T, AcquirerError>> + Send,
    ) -> Result<T, AcquirerError> {
        self.guard((operation, Weight::Aside), budget, work).await.unwrap_or_else(|| Err(left_alone()))
    }

    fn count(&self, operation: &'static str, outcome: &'static str) {
        counter!(
            "cais_acquirer_requests_total",
            "acquirer" => self.inner.name().as_str().to_owned(),
            "operation" => operation,
            "outcome" => outcome
        )
        .increment(1);
    }
}

fn left_alone() -> AcquirerError {
    AcquirerError::Unavailable("the breaker is open after consecutive failures".to_owned())
}

#[async_trait]
impl Acquirer for Guarded {
    fn name(&self) -> &AcquirerName {
        self.inner.name()
    }

    async fn create_charge(&self, order: &ChargeOrder, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        self.try_create(order, budget).await.unwrap_or_else(|| Err(left_alone()))
    }

    async fn find_charge(&self, txid: &Txid, budget: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        let work = self.inner.find_charge(txid, budget);
        self.guard_or_refuse("find", budget, work).await
    }

    async fn cancel_charge(&self, txid: &Txid, budget: Duration) -> Result<UpstreamCharge, AcquirerError> {
        let work = self.inner.cancel_charge(txid, budget);
        self.guard_or_refuse("cancel", budget, work).await
    }

    fn sends_payouts(&self) -> bool {
        self.inner.sends_payouts()
    }

    async fn send_payout(&self, order: &PayoutOrder, budget: Duration) -> Result<UpstreamPayout, AcquirerError> {
        let work = self.inner.send_payout(order, budget);
        self.guard_or_refuse("send_payout", budget, work).await
    }

    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        budget: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError> {
        let work = self.inner.find_payout(instruction_id, budget);
        self.guard_or_refuse("find_payout", budget, work).await
    }

    async fn send_refund(&self, order: &RefundOrder, budget: Duration) -> Result<UpstreamReturn, AcquirerError> {
        let work = self.inner.send_refund(order, budget);
        self.guard_or_refuse("send_refund", budget, work).await
    }

    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        budget: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError> {
        let work = self.inner.find_refund(end_to_end_id, id, budget);
        self.guard_or_refuse("find_refund", budget, work).await
    }

    async fn list_received(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        let work = self.inner.list_received(request, budget);
        self.guard_or_refuse("list_received", budget, work).await
    }

    async fn list_sent(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        let work = self.inner.list_sent(request, budget);
        self.guard_or_refuse("list_sent", budget, work).await
    }

    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        budget: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError> {
        let work = self.inner.find_received(end_to_end_id, budget);
        self.guard_or_refuse("find_received", budget, work).await
    }

    fn reports_infractions(&self) -> bool {
        self.inner.reports_infractions()
    }

    async fn list_infractions(
        &self,
        request: ListRequest,
        budget: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        let work = self.inner.list_infractions(request, budget);
        self.guard_aside("list_infractions", budget, work).await
    }

    async fn send_defense(&self, order: &DefenseOrder, budget: Duration) -> Result<DefenseReceipt, AcquirerError> {
        let work = self.inner.send_defense(order, budget);
        self.guard_aside("send_defense", budget, work).await
    }

    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
        self.inner.callbacks(body)
    }

    async fn register_callback(&self, url: &str, budget: Duration) -> Result<(), AcquirerError> {
        let work = self.inner.register_callback(url, budget);
        self.guard_or_refuse("register_callback", budget, work).await
    }
}
