//! The queue of deliveries on PostgreSQL. A claim, a finish or a cancellation needs one to three statements, regardless of the number of
//! its deliveries. The statements read only the heads of indexes.

use std::collections::HashSet;
use std::sync::{LazyLock, PoisonError};
use std::time::Instant;

use cais_domain::ids::EndpointId;
use cais_ports::{ClaimedDelivery, DeliveryClaim, EndpointQueue};

use super::connect::{PLANS_BY_KEY, Postgres};
use super::heads::{Heads, Queues};
use crate::error::Fault;
use crate::queue::{Outcome, QueueEngine, assemble, claimed_text, endpoints, queues_of, queues_text};
use crate::rows::delivery::ClaimedRow;
use crate::rows::endpoint::EndpointRow;
use crate::sql::table::names;
use crate::sql::{Bind, Query, Session};

/// The queue's commits do not wait for the disk. If the server crashes, the last claims and outcomes may be lost, and their deliveries are
/// repeated. Waiting at each commit would halve the rate of one endpoint.
const RELAXED: &str = "SET synchronous_commit = off";

/// Reads the first row of each queue, from one queue to the next.
const QUEUES: &str = queues_text!(
    "heads AS ((SELECT account_id, endpoint_id, epoch, due_at, CAST(1 AS BIGINT) AS place FROM pending_deliveries \
     WHERE (endpoint_id, epoch) > (?, ?) ORDER BY endpoint_id, epoch, due_at LIMIT 1) \
     UNION ALL SELECT n.account_id, n.endpoint_id, n.epoch, n.due_at, h.place + 1 FROM heads AS h CROSS JOIN LATERAL (\
     SELECT p.account_id, p.endpoint_id, p.epoch, p.due_at FROM pending_deliveries AS p \
     WHERE (p.endpoint_id, p.epoch) > (h.endpoint_id, h.epoch) ORDER BY p.endpoint_id, p.epoch, p.due_at LIMIT 1) AS n WHERE h.place < ?)"
);

/// A claim locks the rows of its endpoints, so that two nodes never use the same slots. A slot is one permitted delivery in flight. Rows
/// that another transaction has locked are skipped.
static LOCK: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM (SELECT unnest(?::text[]) AS account_id, unnest(?::text[]) AS id, unnest(?::bigint[]) AS epoch) AS u \
     JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.id AND w.epoch = u.epoch \
     WHERE w.state = 'active' FOR UPDATE OF w SKIP LOCKED",
        names::<EndpointRow<'_>>("w")
    )
});

/// Claims deliveries. The statement runs after [`LOCK`], so that it sees all earlier claims. Endpoints with the fewest deliveries in flight
/// come first, so that slow endpoints take no slots from fast ones.
const CLAIM: &str = concat!(
    "WITH queues AS MATERIALIZED (SELECT u.*, (SELECT count(*) FROM pending_deliveries AS f \
     WHERE f.endpoint_id = u.endpoint_id AND f.lease_until > ?) AS in_flight \
     FROM (SELECT unnest(?::text[]) AS endpoint_id, unnest(?::bigint[]) AS epoch, unnest(?::bigint[]) AS head) AS u), \
     due AS MATERIALIZED (SELECT n.* FROM (\
     SELECT d.*, least(? - l.in_flight, ?) AS slots, l.in_flight + row_number() OVER (PARTITION BY l.endpoint_id ORDER BY d.due_at, d.id) AS place \
     FROM queues AS l CROSS JOIN LATERAL (SELECT p.account_id, p.endpoint_id, p.id, p.epoch, p.due_at FROM pending_deliveries AS p \
     WHERE p.endpoint_id = l.endpoint_id AND p.epoch = l.epoch AND p.due_at >= l.head \
     AND p.due_at <= ? ORDER BY p.due_at LIMIT greatest(least(? - l.in_flight, ?), 0)) AS d) AS n ORDER BY n.place, n.due_at LIMIT ?), \
     claimed AS (UPDATE pending_deliveries AS t SET due_at = ?, lease_until = ?, fence = t.fence + 1, resend_requested = FALSE FROM due AS d \
     WHERE t.account_id = d.account_id AND t.endpoint_id = d.endpoint_id AND t.id = d.id AND t.due_at + 0 <= ? \
     RETURNING t.account_id, t.endpoint_id, t.id, t.epoch, t.fence, t.tries, d.due_at AS was_due, d.slots) ",
    claimed_text!("claimed", "t.was_due, t.slots"),
    " ORDER BY t.was_due, t.id"
);

/// Stores attempts and applies their outcomes:
/// - Attempts of removed deliveries are not stored.
/// - A delivery with a requested resend becomes due at the end of its attempt, whatever the outcome.
/// - In an ended queue, any outcome cancels the delivery, because readers see it as cancelled since the queue ended.
///
/// The condition on the lease is written so that no index of leases matches it. So rows are found by their key, regardless of the number of
/// stored leases.
const FINISH: &str = "WITH u AS MATERIALIZED (SELECT unnest(?::bigint[]) AS place, unnest(?::text[]) AS account_id, unnest(?::text[]) AS endpoint_id, \
     unnest(?::text[]) AS id, unnest(?::bigint[]) AS fence, unnest(?::text[]) AS status, unnest(?::bigint[]) AS due_at, \
     unnest(?::bigint[]) AS at, unnest(?::bigint[]) AS status_code, unnest(?::bigint[]) AS duration_ms, unnest(?::text[]) AS error, \
     unnest(?::text[]) AS response_body), \
     logged AS (INSERT INTO delivery_attempts (account_id, delivery_id, fence, at, status_code, duration_ms, error, response_body) \
     SELECT u.account_id, u.id, u.fence, u.at, u.status_code, u.duration_ms, u.error, u.response_body FROM u JOIN deliveries AS d \
     ON d.account_id = u.account_id AND d.endpoint_id = u.endpoint_id AND d.id = u.id ON CONFLICT DO NOTHING), \
     retried AS (UPDATE pending_deliveries AS p SET due_at = CASE WHEN p.resend_requested THEN u.at + u.duration_ms * 1000 ELSE u.due_at END, \
     lease_until = NULL, tries = CASE WHEN p.resend_requested THEN 0 ELSE p.tries + 1 END, resend_requested = FALSE \
     FROM u JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.endpoint_id \
     WHERE (u.status = 'pending' OR p.resend_requested) AND p.account_id = u.account_id AND p.endpoint_id = u.endpoint_id AND p.id = u.id \
     AND p.fence = u.fence AND COALESCE(p.lease_until, 0) <> 0 AND w.state IN ('active', 'inactive') AND w.epoch = p.epoch RETURNING u.place), \
     over AS (DELETE FROM pending_deliveries AS p USING u LEFT JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.endpoint_id \
     WHERE p.account_id = u.account_id AND p.endpoint_id = u.endpoint_id AND p.id = u.id AND p.fence = u.fence AND COALESCE(p.lease_until, 0) <> 0 \
     AND ((u.status <> 'pending' AND NOT p.resend_requested) OR (w.state IN ('active', 'inactive') AND w.epoch = p.epoch) IS NOT TRUE) \
     RETURNING u.place, p.account_id, p.endpoint_id, p.id, p.fence, \
     CASE WHEN w.state IN ('active', 'inactive') AND w.epoch = p.epoch THEN u.status ELSE 'cancelled' END AS status), \
     closed AS (UPDATE deliveries AS d SET status = o.status, fence = o.fence FROM over AS o \
     WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.id = o.id) \
     SELECT place, 0::bigint FROM retried UNION ALL SELECT place, 1::bigint FROM over";

/// Cancels deliveries in ended queues. Skips a queue whose endpoint is active or inactive again in that epoch.
const CANCEL: &str = "WITH stale AS MATERIALIZED (SELECT p.account_id, p.endpoint_id, p.id, p.epoch \
     FROM (SELECT unnest(?::text[]) AS account_id, unnest(?::text[]) AS endpoint_id, unnest(?::bigint[]) AS epoch) AS u \
     CROSS JOIN pending_deliveries AS p LEFT JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.endpoint_id \
     AND w.epoch = u.epoch AND w.state IN ('active', 'inactive') WHERE p.endpoint_id = u.endpoint_id AND p.epoch = u.epoch AND w.id IS NULL LIMIT ?), \
     gone AS (DELETE FROM pending_deliveries AS p USING stale AS s WHERE p.account_id = s.account_id AND p.endpoint_id = s.endpoint_id \
     AND p.id = s.id AND p.epoch + 0 = s.epoch RETURNING p.account_id, p.endpoint_id, p.id, p.fence), \
     closed AS (UPDATE deliveries AS d SET status = 'cancelled', fence = g.fence FROM gone AS g \
     WHERE d.account_id = g.account_id AND d.endpoint_id = g.endpoint_id AND d.id = g.id) \
     SELECT count(*), 0::bigint FROM gone";

impl QueueEngine for Postgres {
    fn connect_queue(&self) -> Result<Box<dyn Session>, Fault> {
        let mut session = self.connect_planned(PLANS_BY_KEY)?;
        session.run(RELAXED)?;
        Ok(Box::new(session))
    }

    fn row_lock(&self) -> &'static str {
        " FOR UPDATE"
    }

    fn queues(&self) -> &'static str {
        QUEUES
    }

    fn claim(&self, session: &mut dyn Session, claim: &DeliveryClaim) -> Result<Vec<ClaimedDelivery>, Fault> {
        let (accounts, ids, epochs) = columns(queues_of(claim));
        let lock = Query::new(LOCK.as_str()).texts(texts(&accounts)).texts(texts(&ids)).column(epochs);
        let endpoints = endpoints(session.load(&lock)?);
        if endpoints.is_empty() {
            return Ok(Vec::new());
        }
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let queues: Vec<(EndpointId, i64)> = endpoints.values().map(|one| (one.id, one.epoch)).collect();
        let queues = queues.into_iter().map(|queue| (queue, heads.of(queue, now))).collect();
        let mut rows = take(session, claim, &queues, claim.limit)?;
        let left = claim.limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let short = heads.update(&queues, &rows, left == 0, now);
        if !short.is_empty() {
            rows.extend(take(session, claim, &short, left)?);
        }
        Ok(assemble(rows, &endpoints))
    }

    fn unclaim(&self) {
        *self.heads.lock().unwrap_or_else(PoisonError::into_inner) = Heads::default();
    }

    fn finishes_alone(&self) -> bool {
        true
    }

    /// A resend may commit while the statement waits for the row of the delivery. The statement does not see the resend, and leaves the row
    /// unchanged. A second statement then applies the outcome to such rows.
    fn finish(&self, session: &mut dyn Session, outcomes: &[Outcome<'_>]) -> Result<Vec<usize>, Fault> {
        let mut standing = finish(session, &outcomes.iter().enumerate().collect::<Vec<_>>())?;
        let done: HashSet<usize> = standing.iter().copied().collect();
        let left: Vec<_> = outcomes.iter().enumerate().filter(|(place, _)| !done.contains(place)).collect();
        if !left.is_empty() {
            standing.extend(finish(session, &left)?);
        }
        Ok(standing)
    }

    fn cancel(&self, session: &mut dyn Session, stale: &[EndpointQueue], limit: u32) -> Result<u64, Fault> {
        let (accounts, endpoints, epochs) = columns(stale.iter().copied());
        let query = Query::new(CANCEL).texts(texts(&accounts)).texts(texts(&endpoints)).column(epochs).bind(limit);
        let (count, _) = session.load::<(i64, i64)>(&query)?.pop().unwrap_or_default();
        u64::try_from(count).map_err(|error| Fault::Corrupt(error.to_string()))
    }
}

/// Applies outcomes, each with its position. Returns the positions of the outcomes whose claim was still valid.
fn finish(session: &mut dyn Session, outcomes: &[(usize, &Outcome<'_>)]) -> Result<Vec<usize>, Fault> {
    let names = |name: fn(&Outcome<'_>) -> String| outcomes.iter().map(|(_, one)| name(one)).collect::<Vec<String>>();
    let accounts = names(|one| one.finished.key.account.to_string());
    let endpoints = names(|one| one.finished.key.endpoint.to_string());
    let ids = names(|one| one.finished.key.id.to_string());
    let ints =
        |value: fn(&Outcome<'_>) -> Option<i64>| Bind::Ints(outcomes.iter().map(|(_, one)| value(one)).collect());
    let query = Query::new(FINISH)
        .column(Bind::Ints(outcomes.iter().map(|(place, _)| i64::try_from(*place).ok()).collect()))
        .texts(texts(&accounts))
        .texts(texts(&endpoints))
        .texts(texts(&ids))
        .column(ints(|one| Some(one.finished.fence)))
        .texts(outcomes.iter().map(|(_, one)| one.status.as_str()))
        .column(ints(|one| one.due_at.map(jiff::Timestamp::as_microsecond)))
        .column(ints(|one| Some(one.finished.attempt.at.as_microsecond())))
        .column(ints(|one| one.finished.attempt.status_code.map(i64::from)))
        .column(ints(|one| Some(i64::from(one.finished.attempt.duration_ms))))
        .column(Bind::Texts(outcomes.iter().map(|(_, one)| one.finished.attempt.error.as_deref()).collect()))
        .column(Bind::Texts(outcomes.iter().map(|(_, one)| one.finished.attempt.response_body.as_deref()).collect()));
    let standing = session.load::<(i64, i64)>(&query)?;
    Ok(standing.into_iter().filter_map(|(place, _)| usize::try_from(place).ok()).collect())
}

/// Returns the columns of queues: accounts, endpoints, epochs.
fn columns(queues: impl IntoIterator<Item = EndpointQueue>) -> (Vec<String>, Vec<String>, Bind<'static>) {
    let (mut accounts, mut endpoints, mut epochs) = (Vec::new(), Vec::new(), Vec::new());
    for queue in queues {
        accounts.push(queue.account.to_string());
        endpoints.push(queue.endpoint.to_string());
        epochs.push(Some(queue.epoch));
    }
    (accounts, endpoints, Bind::Ints(epochs))
}

/// Claims at most `limit` deliveries in these queues, each from its start on.
fn take(
    session: &mut dyn Session,
    claim: &DeliveryClaim,
    queues: &Queues,
    limit: u32,
) -> Result<Vec<ClaimedRow>, Fault> {
    let ids: Vec<String> = queues.keys().map(|(endpoint, _)| endpoint.to_string()).collect();
    let take = Query::new(CLAIM)
        .bind(claim.now)
        .texts(texts(&ids))
        .column(Bind::Ints(queues.keys().map(|(_, epoch)| Some(*epoch)).collect()))
        .column(Bind::Ints(queues.values().copied().map(Some).collect()))
        .bind(claim.per_endpoint)
        .bind(claim.at_once)
        .bind(claim.now)
        .bind(claim.per_endpoint)
        .bind(claim.at_once)
        .bind(limit)
        .bind(claim.lease_until)
        .bind(claim.lease_until)
        .bind(claim.now);
    Ok(session.load(&take)?)
}

fn texts(column: &[String]) -> impl Iterator<Item = &str> {
    column.iter().map(String::as_str)
}

#[cfg(test)]
mod tests;
