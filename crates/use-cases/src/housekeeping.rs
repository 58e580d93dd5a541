//! Removes rows that are no longer needed.

use cais_ports::{PruneBefore, Pruned};
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::work::{Pass, WorkError};

/// Idempotency records and their stored responses are kept for 30 days. Records that a worker must resume are kept
/// longer.
const IDEMPOTENCY_RECORDS_KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// These rows are kept for one day, so that an operator can inspect them:
/// - processed callbacks;
/// - quotes that expired unused;
/// - commit marks: rows that record whether a batch was committed;
/// - expired sessions and confirmations.
///
/// Used quotes are never removed: they explain the price of their operation, and a new rate is compared with the newest
/// quote.
const MARKS_KEPT: SignedDuration = SignedDuration::from_hours(24);
/// Events and unmatched callbacks are kept for 90 days, so that consumers and operators can catch up. Deleted endpoints
/// without deliveries are kept as long.
const EVENTS_KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Logged requests are kept for a week, so that support can answer questions about them.
const REQUESTS_KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Removes old rows. The number of rows in one pass is limited.
///
/// # Errors
/// [`WorkError`] if the store does not answer.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    let now = ports.clock.now();
    let before = |kept: SignedDuration| now.saturating_sub(kept).unwrap_or(Timestamp::MIN);
    let before = PruneBefore {
        idempotency_records: before(IDEMPOTENCY_RECORDS_KEPT),
        marks: before(MARKS_KEPT),
        events: before(EVENTS_KEPT),
        requests: before(REQUESTS_KEPT),
    };
    let Pruned { idempotency_records, batches, callbacks, events, crypto_quotes, requests } =
        ports.maintenance.prune(before).await?;
    let removed = [idempotency_records, batches, callbacks, events, crypto_quotes, requests]
        .into_iter()
        .fold(0_u64, u64::saturating_add);
    Ok(Pass { done: usize::try_from(removed).unwrap_or(usize::MAX), more: removed > 0 })
}
