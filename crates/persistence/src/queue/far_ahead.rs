//! Repairs due times and leases written by a node whose clock was ahead: the deliveries become due now.

use std::sync::{Mutex, PoisonError};

use cais_domain::merchant::webhook::MAX_RETRY_PAUSE;
use cais_ports::{DELIVERY_LEASE, Due, alerts};
use jiff::{SignedDuration, Timestamp};

use crate::error::Fault;
use crate::sql::{Query, Session};

/// The time between two passes. After the clock is corrected, a delivery with a wrong due time waits at most this long.
const EVERY: SignedDuration = SignedDuration::from_secs(60);
/// The largest number of rows that one statement changes; the next pass continues.
const AT_A_TIME: usize = 1_000;

/// Makes deliveries due whose due time is too far ahead. The statement reads an index from the latest due time on. So it ends at once if no
/// clock was ahead.
pub(crate) const RETRIES: &str = "UPDATE pending_deliveries SET due_at = ? WHERE (account_id, endpoint_id, id) IN (\
     SELECT p.account_id, p.endpoint_id, p.id FROM pending_deliveries AS p WHERE 0 + p.due_at > ? AND p.lease_until IS NULL \
     ORDER BY 0 + p.due_at DESC LIMIT ?)";
/// Ends leases that are too far ahead, and makes their deliveries due. The statement reads the index of leases, which has one row per
/// delivery in flight.
pub(crate) const LEASES: &str = "UPDATE pending_deliveries SET due_at = ?, lease_until = ? WHERE (account_id, endpoint_id, id) IN (\
     SELECT p.account_id, p.endpoint_id, p.id FROM pending_deliveries AS p WHERE p.lease_until IS NOT NULL AND p.lease_until > ? LIMIT ?)";

/// The instant of the last pass of this process; `None` if the next pass runs at once.
#[derive(Debug, Default)]
pub(super) struct FarAhead(Mutex<Option<Timestamp>>);

impl FarAhead {
    /// Makes deliveries due whose lease or due time is further ahead than a correct clock writes, and ends their leases. Returns at once if
    /// the last pass was less than [`EVERY`] ago. The outcome of a running attempt still counts until another node claims the delivery.
    pub(super) fn step(&self, session: &mut dyn Session, now: Timestamp) -> Result<(), Fault> {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_some_and(|last| now.duration_since(last).abs() < EVERY) {
            return Ok(());
        }
        let [retry, lease] = [MAX_RETRY_PAUSE, DELIVERY_LEASE].map(|longest| Due::new(now, longest).beyond());
        let most = i64::try_from(AT_A_TIME).unwrap_or(i64::MAX);
        let retries = session.execute(&Query::new(RETRIES).bind(now).bind(retry).bind(most))?;
        let leases = session.execute(&Query::new(LEASES).bind(now).bind(now).bind(lease).bind(most))?;
        if retries.saturating_add(leases) > 0 {
            tracing::error!(
                alert = alerts::CLOCK_SKEW,
                retries,
                leases,
                "due times were further ahead than the longest pause; a clock was ahead, and the deliveries are due now"
            );
        }
        let is_done = [retries, leases].into_iter().all(|rows| rows < AT_A_TIME);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = is_done.then_some(now);
        Ok(())
    }
}
