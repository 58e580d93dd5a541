//! Metrics of webhooks: attempts by outcome, attempts in flight, due deliveries.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::ids::DeliveryId;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::{
    AttemptOutcome, ClaimedDelivery, DeliveryClaim, DeliveryQueue, DueQueues, EndpointQueue, FinishedAttempt,
    NewDelivery, Outgoing, QueryError, Sent, UrlRefusal, WebhookSender,
};
use jiff::Timestamp;
use metrics::{counter, gauge, histogram};

/// Attempts by outcome.
pub const ATTEMPTS: &str = "cais_webhook_attempts_total";
/// Failed attempts by reason.
pub const FAILURES: &str = "cais_webhook_failures_total";
/// Duration of an attempt.
pub const SECONDS: &str = "cais_webhook_attempt_seconds";
/// Attempts in flight on this node.
pub const IN_FLIGHT: &str = "cais_webhook_in_flight";
/// Due deliveries that no node has leased.
pub const BACKLOG: &str = "cais_webhook_backlog";
/// Time since the oldest due delivery became due.
pub const OLDEST_DUE: &str = "cais_webhook_oldest_due_seconds";

/// Returns the label of an outcome.
#[must_use]
pub const fn outcome_label(outcome: AttemptOutcome) -> &'static str {
    match outcome {
        AttemptOutcome::Succeeded => "succeeded",
        AttemptOutcome::Retry { .. } => "retried",
        AttemptOutcome::Failed => "failed",
    }
}

/// A queue with metrics of due deliveries and of results.
pub struct MeasuredQueue(Arc<dyn DeliveryQueue>);

impl MeasuredQueue {
    /// Wraps a queue with metrics.
    #[must_use]
    pub fn new(queue: Arc<dyn DeliveryQueue>) -> Self {
        Self(queue)
    }
}

#[async_trait]
impl DeliveryQueue for MeasuredQueue {
    async fn put(
        &self,
        deliveries: Vec<NewDelivery>,
        most: Option<u32>,
    ) -> Result<Option<Vec<DeliveryId>>, QueryError> {
        self.0.put(deliveries, most).await
    }

    async fn due_queues(
        &self,
        now: Timestamp,
        after: Option<EndpointQueue>,
        limit: u32,
    ) -> Result<DueQueues, QueryError> {
        let due = self.0.due_queues(now, after, limit).await?;
        // The count stops at 10,000.
        gauge!(BACKLOG).set(f64::from(u32::try_from(due.backlog).unwrap_or(u32::MAX)));
        let waited = due.oldest_due_at.map_or(0.0, |since| now.duration_since(since).as_secs_f64());
        gauge!(OLDEST_DUE).set(waited.max(0.0));
        Ok(due)
    }

    async fn claim(&self, claim: DeliveryClaim) -> Result<Vec<ClaimedDelivery>, QueryError> {
        self.0.claim(claim).await
    }

    async fn finish(&self, finished: Vec<FinishedAttempt>) -> Result<(), QueryError> {
        let results: Vec<(AttemptOutcome, Option<String>)> =
            finished.iter().map(|one| (one.outcome, one.attempt.error.clone())).collect();
        self.0.finish(finished).await?;
        for (outcome, error) in results {
            counter!(ATTEMPTS, "outcome" => outcome_label(outcome)).increment(1);
            // The labels are a fixed list.
            if let Some(reason) = error {
                counter!(FAILURES, "reason" => reason).increment(1);
            }
        }
        Ok(())
    }

    async fn cancel_stale(&self, limit: u32) -> Result<u64, QueryError> {
        self.0.cancel_stale(limit).await
    }

    async fn forget_failures(&self, queue: EndpointQueue) -> Result<(), QueryError> {
        self.0.forget_failures(queue).await
    }

    async fn hinted(&self) -> Vec<EndpointQueue> {
        self.0.hinted().await
    }
}

/// A sender with metrics of attempts in flight and of their duration.
pub struct MeasuredSender(Arc<dyn WebhookSender>);

impl MeasuredSender {
    /// Wraps a sender with metrics.
    #[must_use]
    pub fn new(sender: Arc<dyn WebhookSender>) -> Self {
        Self(sender)
    }
}

/// Decrements the gauge when an attempt ends in any way, also when its future is dropped.
struct InFlight;

impl InFlight {
    fn begin() -> Self {
        gauge!(IN_FLIGHT).increment(1.0);
        Self
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        gauge!(IN_FLIGHT).decrement(1.0);
    }
}

#[async_trait]
impl WebhookSender for MeasuredSender {
    async fn vet(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        self.0.vet(url).await
    }

    fn permits(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        self.0.permits(url)
    }

    async fn send<'a>(&self, outgoing: Outgoing<'a>) -> Sent {
        let in_flight = InFlight::begin();
        let sent = self.0.send(outgoing).await;
        drop(in_flight);
        histogram!(SECONDS).record(Duration::from_millis(u64::from(sent.duration_ms)));
        sent
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_ports::{DeliveryAttempt, Health, Store as _};
    use cais_testkit::MemoryStore;
    use cais_testkit::builders::{a_test_delivery, an_account, an_endpoint, queue_of, start, steps};
    use jiff::ToSpan as _;
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    /// Runs `work` and returns the resulting metrics.
    fn numbers(work: impl Future<Output = ()>) -> String {
        let recorder = PrometheusBuilder::new().build_recorder();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        metrics::with_local_recorder(&recorder, || runtime.block_on(work));
        recorder.handle().render()
    }

    #[test]
    fn due_deliveries_and_results_are_counted() {
        let page = numbers(async {
            let store = Arc::new(MemoryStore::default());
            let account = an_account();
            let endpoint = an_endpoint(account.id, 0);
            store.commit(steps::open_account(&account)).await.unwrap();
            store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
            let queue = MeasuredQueue::new(store);
            queue.put(vec![a_test_delivery(&endpoint), a_test_delivery(&endpoint)], None).await.unwrap();
            let now = start() + 7.seconds();
            queue.due_queues(now, None, 10).await.unwrap();
            let queues = vec![queue_of(&endpoint)];
            let claim =
                DeliveryClaim { queues, now, lease_until: now + 30.seconds(), per_endpoint: 8, at_once: 8, limit: 8 };
            let claimed = queue.claim(claim).await.unwrap();
            let outcomes = [AttemptOutcome::Succeeded, AttemptOutcome::Retry { due_at: now + 60.seconds() }];
            let finished = claimed.iter().zip(outcomes).map(|(one, outcome)| FinishedAttempt {
                key: one.key,
                fence: one.fence,
                epoch: endpoint.epoch,
                tries: one.tries,
                attempt: DeliveryAttempt {
                    at: now,
                    status_code: None,
                    duration_ms: 1,
                    error: (outcome != AttemptOutcome::Succeeded).then(|| "timed_out".to_owned()),
                    response_body: None,
                },
                outcome,
                health: Health::Unchanged,
            });
            queue.finish(finished.collect()).await.unwrap();
        });
        for line in [
            "cais_webhook_backlog 2",
            "cais_webhook_oldest_due_seconds 7",
            "cais_webhook_attempts_total{outcome=\"succeeded\"} 1",
            "cais_webhook_attempts_total{outcome=\"retried\"} 1",
            "cais_webhook_failures_total{reason=\"timed_out\"} 1",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }

    #[test]
    fn in_flight_gauge_returns_to_zero_after_any_end() {
        let page = numbers(async {
            let abandoned = InFlight::begin();
            drop(InFlight::begin());
            let during = tokio::time::timeout(Duration::ZERO, async move {
                let _abandoned = abandoned;
                std::future::pending::<()>().await;
            });
            assert!(during.await.is_err());
        });
        assert!(page.lines().any(|line| line == "cais_webhook_in_flight 0"), "{page}");
    }
}
