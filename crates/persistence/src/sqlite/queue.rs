//! The queue of deliveries on SQLite. Each claim, and each group of outcomes, is written row by row in one transaction. The indexes are the
//! same as on PostgreSQL.

use std::sync::LazyLock;

use cais_domain::merchant::webhook::DeliveryStatus;
use cais_ports::{ClaimedDelivery, DeliveryClaim, EndpointQueue};

use super::connect::Sqlite;
use crate::error::Fault;
use crate::queue::{Endpoints, Outcome, QueueEngine, assemble, claimed_text, endpoints, queues_of, queues_text};
use crate::rows::endpoint::EndpointRow;
use crate::sql::table::names;
use crate::sql::{Query, Session};

/// With this setting, a power failure may lose the last commits: claims and outcomes. Their deliveries are then sent again. The write-ahead
/// log keeps the file consistent.
const RELAXED: &str = "PRAGMA synchronous = NORMAL";

/// Reads the first row of each queue. Each step of the recursion finds the next queue in the index. Without the unary plus in `+p.epoch`,
/// SQLite would use the index only for the first of the two compared columns.
const QUEUES: &str = queues_text!(
    "places (rows, place) AS (SELECT (SELECT rowid FROM pending_deliveries WHERE (endpoint_id, epoch) > (?, ?) \
     ORDER BY endpoint_id, epoch, due_at LIMIT 1), 1 \
     UNION ALL SELECT (SELECT n.rowid FROM pending_deliveries AS n WHERE (n.endpoint_id, n.epoch) > (p.endpoint_id, +p.epoch) \
     ORDER BY n.endpoint_id, n.epoch, n.due_at LIMIT 1), h.place + 1 FROM places AS h CROSS JOIN pending_deliveries AS p \
     WHERE p.rowid = h.rows AND h.place < ?), \
     heads AS MATERIALIZED (SELECT p.account_id, p.endpoint_id, p.epoch, p.due_at, h.place FROM places AS h \
     CROSS JOIN pending_deliveries AS p WHERE p.rowid = h.rows)"
);
/// Selects the deliveries of a queue that has ended: its endpoint is disabled, is deleted, or has a later epoch. Any other queue yields no
/// rows.
const STALE: &str = "SELECT p.account_id, p.endpoint_id, p.id, p.id FROM pending_deliveries AS p \
     WHERE p.endpoint_id = ? AND p.epoch = ? AND NOT EXISTS (SELECT 1 FROM webhook_endpoints AS w \
     WHERE w.account_id = p.account_id AND w.id = p.endpoint_id AND w.epoch = p.epoch AND w.state IN ('active', 'inactive')) LIMIT ?";

static ENDPOINT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM webhook_endpoints AS w WHERE w.account_id = ? AND w.id = ? AND w.epoch = ? AND w.state = 'active'",
        names::<EndpointRow<'_>>("w")
    )
});
const IN_FLIGHT: &str = "SELECT count(*), 0 FROM pending_deliveries WHERE endpoint_id = ? AND lease_until > ?";
const DUE: &str = "SELECT account_id, id, due_at FROM pending_deliveries WHERE endpoint_id = ? AND epoch = ? AND due_at <= ? \
     ORDER BY due_at LIMIT ?";
const CLAIM: &str = "UPDATE pending_deliveries SET due_at = ?, lease_until = ?, fence = fence + 1, resend_requested = FALSE \
     WHERE account_id = ? AND endpoint_id = ? AND id = ?";
const CLAIMED_ROW: &str = concat!(
    claimed_text!("pending_deliveries", "t.due_at, 0"),
    " WHERE t.account_id = ? AND t.endpoint_id = ? AND t.id = ?"
);

const INSERT_ATTEMPT: &str = "INSERT INTO delivery_attempts (account_id, delivery_id, fence, at, status_code, duration_ms, error, response_body) \
     SELECT account_id, id, ?, ?, ?, ?, ?, ? FROM deliveries WHERE account_id = ? AND endpoint_id = ? AND id = ? ON CONFLICT DO NOTHING";
/// Selects a delivery whose claim is still valid. The two columns are flags: 1 if a resend was requested, and 1 if the queue has not ended.
const VALID_CLAIM: &str = "SELECT CAST(p.resend_requested AS BIGINT), CAST(w.id IS NOT NULL AS BIGINT) FROM pending_deliveries AS p LEFT JOIN webhook_endpoints AS w \
     ON w.account_id = p.account_id AND w.id = p.endpoint_id AND w.epoch = p.epoch AND w.state IN ('active', 'inactive') \
     WHERE p.account_id = ? AND p.endpoint_id = ? AND p.id = ? AND p.fence = ? AND p.lease_until IS NOT NULL";
const RETRY_LATER: &str = "UPDATE pending_deliveries SET due_at = ?, lease_until = NULL, tries = tries + 1 WHERE account_id = ? AND endpoint_id = ? AND id = ?";
const RESTART: &str = "UPDATE pending_deliveries SET due_at = ?, lease_until = NULL, tries = 0, resend_requested = FALSE \
     WHERE account_id = ? AND endpoint_id = ? AND id = ?";
const DEQUEUE: &str =
    "DELETE FROM pending_deliveries WHERE account_id = ? AND endpoint_id = ? AND id = ? RETURNING id, id, fence";
const SET_STATUS: &str =
    "UPDATE deliveries SET status = ?, fence = ? WHERE account_id = ? AND endpoint_id = ? AND id = ?";

/// A due delivery that may be claimed: its rank, its due time, and its key. The rank is the number of deliveries to the endpoint that are
/// in flight, plus the number of earlier candidates of the same queue.
type Candidate = (i64, i64, [String; 3]);

impl QueueEngine for Sqlite {
    fn connect_queue(&self) -> Result<Box<dyn Session>, Fault> {
        Ok(Box::new(self.connect_in_turn(RELAXED)?))
    }

    fn row_lock(&self) -> &'static str {
        ""
    }

    fn queues(&self) -> &'static str {
        QUEUES
    }

    fn claim(&self, session: &mut dyn Session, claim: &DeliveryClaim) -> Result<Vec<ClaimedDelivery>, Fault> {
        let (mut candidates, mut endpoints) = (Vec::new(), Endpoints::new());
        for queue in queues_of(claim) {
            let found = served(session, queue)?;
            if !found.is_empty() {
                endpoints.extend(found);
                candidates.extend(due(session, claim, queue)?);
            }
        }
        // The lowest ranks come first. So an endpoint with many deliveries in flight takes no slots from the others.
        candidates.sort_unstable();
        candidates.truncate(usize::try_from(claim.limit).unwrap_or(usize::MAX));
        candidates.sort_unstable_by(|(_, one, name), (_, other, other_name)| (one, name).cmp(&(other, other_name)));
        let mut rows = Vec::with_capacity(candidates.len());
        for (_, _, name) in &candidates {
            let update = Query::new(CLAIM).bind(claim.lease_until).bind(claim.lease_until);
            session.execute(&named(update, name))?;
            rows.extend(session.load(&named(Query::new(CLAIMED_ROW), name))?);
        }
        Ok(assemble(rows, &endpoints))
    }

    fn finishes_alone(&self) -> bool {
        false
    }

    fn finish(&self, session: &mut dyn Session, outcomes: &[Outcome<'_>]) -> Result<Vec<usize>, Fault> {
        let mut applied = Vec::new();
        for (place, outcome) in outcomes.iter().enumerate() {
            if finish_one(session, outcome)? {
                applied.push(place);
            }
        }
        Ok(applied)
    }

    fn cancel(&self, session: &mut dyn Session, stale: &[EndpointQueue], limit: u32) -> Result<u64, Fault> {
        let mut left = limit;
        for queue in stale {
            let query = Query::new(STALE).bind(queue.endpoint).bind(queue.epoch).bind(left);
            for (account, endpoint, id, _) in session.load::<(String, String, String, String)>(&query)? {
                close(session, &[account, endpoint, id], DeliveryStatus::Cancelled)?;
                left = left.saturating_sub(1);
            }
            if left == 0 {
                break;
            }
        }
        Ok(limit.saturating_sub(left).into())
    }
}

/// Returns the endpoint of the queue, if it is active and still has the epoch of the queue.
fn served(session: &mut dyn Session, queue: EndpointQueue) -> Result<Endpoints, Fault> {
    let query = Query::new(ENDPOINT.as_str()).bind(queue.account).bind(queue.endpoint).bind(queue.epoch);
    Ok(endpoints(session.load(&query)?))
}

/// Returns due deliveries of a queue, at most as many as the endpoint has free slots and the claim allows per endpoint.
fn due(session: &mut dyn Session, claim: &DeliveryClaim, queue: EndpointQueue) -> Result<Vec<Candidate>, Fault> {
    let counted = session.load(&Query::new(IN_FLIGHT).bind(queue.endpoint).bind(claim.now))?;
    let in_flight = counted.first().map_or(0, |(count, _)| *count);
    let slots = i64::from(claim.per_endpoint).saturating_sub(in_flight).min(claim.at_once.into()).max(0);
    let query = Query::new(DUE).bind(queue.endpoint).bind(queue.epoch).bind(claim.now).bind(slots);
    let rows = session.load(&query)?.into_iter().zip(in_flight..);
    Ok(rows
        .map(|((account, id, due_at), before)| (before, due_at, [account, queue.endpoint.to_string(), id]))
        .collect())
}

/// Stores the attempt. If its claim is still valid, applies the outcome and returns `true`.
fn finish_one(session: &mut dyn Session, outcome: &Outcome<'_>) -> Result<bool, Fault> {
    let (finished, attempt) = (outcome.finished, &outcome.finished.attempt);
    let name = [finished.key.account.to_string(), finished.key.endpoint.to_string(), finished.key.id.to_string()];
    let log = Query::new(INSERT_ATTEMPT)
        .bind(finished.fence)
        .bind(attempt.at)
        .bind(attempt.status_code.map(i64::from))
        .bind(attempt.duration_ms)
        .bind(attempt.error.as_deref())
        .bind(attempt.response_body.as_deref());
    session.execute(&named(log, &name))?;
    let valid_claim = named(Query::new(VALID_CLAIM), &name).bind(finished.fence);
    let Some((resend_requested, served)) = session.load(&valid_claim)?.pop() else { return Ok(false) };
    match (outcome.due_at, served, resend_requested) {
        // The queue has ended, so queries already show the delivery as cancelled.
        (_, 0, _) => close(session, &name, DeliveryStatus::Cancelled)?,
        (None, _, 0) => close(session, &name, outcome.status)?,
        (Some(due_at), _, 0) => {
            session.execute(&named(Query::new(RETRY_LATER).bind(due_at), &name))?;
        }
        (_, _, _) => {
            session.execute(&named(Query::new(RESTART).bind(attempt.ended_at()), &name))?;
        }
    }
    Ok(true)
}

/// Ends the delivery and removes it from the queue.
fn close(session: &mut dyn Session, name: &[String; 3], status: DeliveryStatus) -> Result<(), Fault> {
    for (_, _, fence) in session.load::<(String, String, i64)>(&named(Query::new(DEQUEUE), name))? {
        session.execute(&named(Query::new(SET_STATUS).bind(status.as_str()).bind(fence), name))?;
    }
    Ok(())
}

fn named<'q>(query: Query<'q>, name: &'q [String; 3]) -> Query<'q> {
    name.iter().fold(query, |query, part| query.bind(part.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{LEASES, OVERDUE, REQUESTED, RETRIES};
    use crate::reader::plans::Planner;

    /// The plan steps that scan only a few rows: the first row of an index, or intermediate rows of the statement.
    const FEW: [&str; 5] = ["SCAN CONSTANT ROW", "SCAN h", "SCAN r", "SCAN o", "SCAN (subquery-2)"];

    /// Returns the steps of the statement's plan. Panics if a step scans a table.
    fn steps(planner: &mut Planner, text: &str) -> Vec<String> {
        let steps = planner.plan(text);
        let whole = |step: &&String| step.starts_with("SCAN") && !FEW.contains(&step.as_str());
        assert_eq!(steps.iter().find(whole), None, "{steps:#?}");
        assert!(!steps.iter().any(|step| step.contains("AUTOMATIC")), "{steps:#?}");
        steps
    }

    #[test]
    fn queues_are_found_from_one_to_the_next() {
        let steps = steps(&mut Planner::new(), QUEUES);
        let next = "USING COVERING INDEX pending_deliveries_due ((endpoint_id,epoch)>(?,?))";
        assert_eq!(steps.iter().filter(|step| step.ends_with(next)).count(), 2, "{steps:#?}");
    }

    #[test]
    fn due_rows_are_found_along_an_index_of_their_own() {
        let steps = steps(&mut Planner::new(), OVERDUE);
        let along = "SEARCH p USING INDEX pending_deliveries_overdue (<expr>>? AND <expr><?)";
        assert!(steps.iter().any(|step| step == along), "{steps:#?}");
        assert!(!steps.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY"), "{steps:#?}");
    }

    #[test]
    fn requests_are_counted_along_an_index_of_their_own() {
        let steps = steps(&mut Planner::new(), REQUESTED);
        let along = "SEARCH pending_deliveries USING INDEX pending_deliveries_requested (endpoint_id=? AND epoch=?)";
        assert_eq!(steps, [along]);
    }

    #[test]
    fn deliveries_far_ahead_are_found_along_indexes() {
        let mut planner = Planner::new();
        let retries = steps(&mut planner, RETRIES);
        let along = "SEARCH p USING INDEX pending_deliveries_overdue (<expr>>?)";
        assert!(retries.iter().any(|step| step == along), "{retries:#?}");
        assert!(!retries.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY"), "{retries:#?}");
        let leases = planner.plan(LEASES);
        let along = "USING INDEX pending_deliveries_leased";
        assert!(leases.iter().any(|step| step.contains(along)), "{leases:#?}");
    }

    #[test]
    fn claim_reads_only_the_head_of_its_queue() {
        let mut planner = Planner::new();
        assert_eq!(
            steps(&mut planner, DUE),
            ["SEARCH pending_deliveries USING INDEX pending_deliveries_due (endpoint_id=? AND epoch=? AND due_at<?)"]
        );
        assert_eq!(
            steps(&mut planner, IN_FLIGHT),
            [
                "SEARCH pending_deliveries USING COVERING INDEX pending_deliveries_leased (endpoint_id=? AND lease_until>?)"
            ]
        );
        for text in [
            CLAIM,
            CLAIMED_ROW,
            VALID_CLAIM,
            RETRY_LATER,
            RESTART,
            DEQUEUE,
            SET_STATUS,
            INSERT_ATTEMPT,
            ENDPOINT.as_str(),
            STALE,
        ] {
            steps(&mut planner, text);
        }
    }
}
