//! Tests the metrics of the queue: due deliveries, and attempts by their outcome.

use cais_persistence::Persistence;
use cais_ports::{
    AttemptOutcome, DeliveryAttempt, DeliveryClaim, DeliveryQueue as _, FinishedAttempt, Health, Store as _,
};
use cais_testkit::builders::{a_test_delivery, an_account, an_endpoint, queue_of, start, steps};
use jiff::ToSpan as _;
use metrics_exporter_prometheus::PrometheusBuilder;

use crate::stores::{ids, migrated};

#[test]
fn due_deliveries_and_results_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let config = migrated(&format!("sqlite:{}", folder.path().join("cais.db").display()));
    let store = Persistence::open(&config, &ids()).unwrap();
    let recorder = PrometheusBuilder::new().build_recorder();
    let work = async {
        let account = an_account();
        let endpoint = an_endpoint(account.id, 0);
        store.commit(steps::open_account(&account)).await.unwrap();
        store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
        store.put(vec![a_test_delivery(&endpoint), a_test_delivery(&endpoint)], None).await.unwrap();
        let now = start() + 7.seconds();
        store.due_queues(now, None, 10).await.unwrap();
        let queues = vec![queue_of(&endpoint)];
        let claim =
            DeliveryClaim { queues, now, lease_until: now + 30.seconds(), per_endpoint: 8, at_once: 8, limit: 8 };
        let claimed = store.claim(claim).await.unwrap();
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
        store.finish(finished.collect()).await.unwrap();
    };
    // The results are counted on the thread of the caller.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    metrics::with_local_recorder(&recorder, || runtime.block_on(work));
    let page = recorder.handle().render();
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
