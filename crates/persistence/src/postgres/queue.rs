//! The queue of deliveries on PostgreSQL: each step is one statement for all rows, along indexes whose heads are all that is looked at.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Instant;

use cais_domain::ids::EndpointId;
use cais_ports::{ClaimedDelivery, DeliveryClaim, Lane};

use super::connect::{PLANS_BY_KEY, Postgres};
use super::heads::{Heads, Lanes};
use crate::error::Fault;
use crate::queue::{Outcome, QueueEngine, assemble, claimed_text, endpoints, lanes_of, lanes_text};
use crate::rows::delivery::ClaimedRow;
use crate::rows::endpoint::endpoint_columns;
use crate::sql::{Bind, Query, Session};

/// Losing the last claims and outcomes means to deliver again; waiting for the disk each time would halve what one receiver gets.
const RELAXED: &str = "SET synchronous_commit = off";

/// Reads the first row of each lane, from one lane to the next.
const LANES: &str = lanes_text!(
    "heads AS ((SELECT account_id, endpoint_id, epoch, due_at, CAST(1 AS BIGINT) AS place FROM pending_deliveries \
     WHERE (endpoint_id, epoch) > (?, ?) ORDER BY endpoint_id, epoch, due_at LIMIT 1) \
     UNION ALL SELECT n.account_id, n.endpoint_id, n.epoch, n.due_at, h.place + 1 FROM heads AS h CROSS JOIN LATERAL (\
     SELECT p.account_id, p.endpoint_id, p.epoch, p.due_at FROM pending_deliveries AS p \
     WHERE (p.endpoint_id, p.epoch) > (h.endpoint_id, h.epoch) ORDER BY p.endpoint_id, p.epoch, p.due_at LIMIT 1) AS n WHERE h.place < ?)"
);

/// Whoever claims for an endpoint has its row, so that two nodes never share its places. A row that somebody else has is passed over.
const LOCK: &str = concat!(
    "SELECT ",
    endpoint_columns!(),
    " FROM (SELECT unnest(?::text[]) AS account_id, unnest(?::text[]) AS id, unnest(?::bigint[]) AS epoch) AS u \
     JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.id AND w.epoch = u.epoch \
     WHERE w.state = 'active' FOR UPDATE OF w SKIP LOCKED"
);

/// In a statement after the lock, which sees what was claimed before it. Endpoints with the least in flight are served first: those that
/// hang take no place from those that answer.
const CLAIM: &str = concat!(
    "WITH lanes AS MATERIALIZED (SELECT u.*, (SELECT count(*) FROM pending_deliveries AS f \
     WHERE f.endpoint_id = u.endpoint_id AND f.lease_until > ?) AS in_flight \
     FROM (SELECT unnest(?::text[]) AS endpoint_id, unnest(?::bigint[]) AS epoch, unnest(?::bigint[]) AS head) AS u), \
     due AS MATERIALIZED (SELECT n.* FROM (\
     SELECT d.*, least(? - l.in_flight, ?) AS places, l.in_flight + row_number() OVER (PARTITION BY l.endpoint_id ORDER BY d.due_at, d.id) AS place \
     FROM lanes AS l CROSS JOIN LATERAL (SELECT p.account_id, p.endpoint_id, p.id, p.epoch, p.due_at FROM pending_deliveries AS p \
     WHERE p.endpoint_id = l.endpoint_id AND p.epoch = l.epoch AND p.due_at >= l.head \
     AND p.due_at <= ? ORDER BY p.due_at LIMIT greatest(least(? - l.in_flight, ?), 0)) AS d) AS n ORDER BY n.place, n.due_at LIMIT ?), \
     taken AS (UPDATE pending_deliveries AS t SET due_at = ?, lease_until = ?, fence = t.fence + 1, again = FALSE FROM due AS d \
     WHERE t.account_id = d.account_id AND t.endpoint_id = d.endpoint_id AND t.id = d.id AND t.due_at + 0 <= ? \
     RETURNING t.account_id, t.endpoint_id, t.id, t.epoch, t.fence, t.tries, d.due_at AS was_due, d.places) ",
    claimed_text!("taken", "t.was_due, t.places"),
    " ORDER BY t.was_due, t.id"
);

/// One that is to be sent again is due when its attempt ended. That a claim stands is asked in words that no index of leases answers: rows are found by their key, however many leases nobody
/// ended. Attempts of deliveries that housekeeping has removed are not kept. What waits in a lane that nobody serves any more is cancelled,
/// whatever came of the attempt: so it was read since the lane ended.
const FINISH: &str = "WITH u AS MATERIALIZED (SELECT unnest(?::bigint[]) AS place, unnest(?::text[]) AS account_id, unnest(?::text[]) AS endpoint_id, \
     unnest(?::text[]) AS id, unnest(?::bigint[]) AS fence, unnest(?::text[]) AS status, unnest(?::bigint[]) AS due_at, \
     unnest(?::bigint[]) AS at, unnest(?::bigint[]) AS status_code, unnest(?::bigint[]) AS duration_ms, unnest(?::text[]) AS error, \
     unnest(?::text[]) AS response_body), \
     logged AS (INSERT INTO delivery_attempts (account_id, delivery_id, fence, at, status_code, duration_ms, error, response_body) \
     SELECT u.account_id, u.id, u.fence, u.at, u.status_code, u.duration_ms, u.error, u.response_body FROM u JOIN deliveries AS d \
     ON d.account_id = u.account_id AND d.endpoint_id = u.endpoint_id AND d.id = u.id ON CONFLICT DO NOTHING), \
     again AS (UPDATE pending_deliveries AS p SET due_at = CASE WHEN p.again THEN u.at + u.duration_ms * 1000 ELSE u.due_at END, \
     lease_until = NULL, tries = CASE WHEN p.again THEN 0 ELSE p.tries + 1 END, again = FALSE \
     FROM u JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.endpoint_id \
     WHERE (u.status = 'pending' OR p.again) AND p.account_id = u.account_id AND p.endpoint_id = u.endpoint_id AND p.id = u.id \
     AND p.fence = u.fence AND COALESCE(p.lease_until, 0) <> 0 AND w.state = 'active' AND w.epoch = p.epoch RETURNING u.place), \
     over AS (DELETE FROM pending_deliveries AS p USING u LEFT JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.endpoint_id \
     WHERE p.account_id = u.account_id AND p.endpoint_id = u.endpoint_id AND p.id = u.id AND p.fence = u.fence AND COALESCE(p.lease_until, 0) <> 0 \
     AND ((u.status <> 'pending' AND NOT p.again) OR (w.state = 'active' AND w.epoch = p.epoch) IS NOT TRUE) \
     RETURNING u.place, p.account_id, p.endpoint_id, p.id, p.fence, \
     CASE WHEN w.state = 'active' AND w.epoch = p.epoch THEN u.status ELSE 'cancelled' END AS status), \
     closed AS (UPDATE deliveries AS d SET status = o.status, fence = o.fence FROM over AS o \
     WHERE d.account_id = o.account_id AND d.endpoint_id = o.endpoint_id AND d.id = o.id) \
     SELECT place, 0::bigint FROM again UNION ALL SELECT place, 1::bigint FROM over";

/// A lane whose endpoint is called again by now is left alone.
const CANCEL: &str = "WITH stale AS MATERIALIZED (SELECT p.account_id, p.endpoint_id, p.id, p.epoch \
     FROM (SELECT unnest(?::text[]) AS account_id, unnest(?::text[]) AS endpoint_id, unnest(?::bigint[]) AS epoch) AS u \
     CROSS JOIN pending_deliveries AS p LEFT JOIN webhook_endpoints AS w ON w.account_id = u.account_id AND w.id = u.endpoint_id \
     AND w.epoch = u.epoch AND w.state = 'active' WHERE p.endpoint_id = u.endpoint_id AND p.epoch = u.epoch AND w.id IS NULL LIMIT ?), \
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

    fn lanes(&self) -> &'static str {
        LANES
    }

    fn claim(&self, session: &mut dyn Session, claim: &DeliveryClaim) -> Result<Vec<ClaimedDelivery>, Fault> {
        let (accounts, ids, epochs) = columns(lanes_of(claim));
        let lock = Query::new(LOCK).texts(texts(&accounts)).texts(texts(&ids)).column(epochs);
        let endpoints = endpoints(session.endpoints(&lock)?);
        if endpoints.is_empty() {
            return Ok(Vec::new());
        }
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let lanes: Vec<(EndpointId, i64)> = endpoints.values().map(|one| (one.id, one.epoch)).collect();
        let lanes = lanes.into_iter().map(|lane| (lane, heads.of(lane, now))).collect();
        let mut rows = take(session, claim, &lanes, claim.limit)?;
        let left = claim.limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let short = heads.learn(&lanes, &rows, left == 0, now);
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

    /// A resend that was committed while the statement waited for its row is not in the statement's snapshot, and the row stays as it was.
    /// A second statement sees the resend.
    fn finish(&self, session: &mut dyn Session, outcomes: &[Outcome<'_>]) -> Result<Vec<usize>, Fault> {
        let mut standing = finish(session, &outcomes.iter().enumerate().collect::<Vec<_>>())?;
        let done: HashSet<usize> = standing.iter().copied().collect();
        let left: Vec<_> = outcomes.iter().enumerate().filter(|(place, _)| !done.contains(place)).collect();
        if !left.is_empty() {
            standing.extend(finish(session, &left)?);
        }
        Ok(standing)
    }

    fn cancel(&self, session: &mut dyn Session, stale: &[Lane], limit: u32) -> Result<u64, Fault> {
        let (accounts, endpoints, epochs) = columns(stale.iter().copied());
        let query = Query::new(CANCEL).texts(texts(&accounts)).texts(texts(&endpoints)).column(epochs).bind(limit);
        let (count, _) = session.pairs(&query)?.pop().unwrap_or_default();
        u64::try_from(count).map_err(|error| Fault::Corrupt(error.to_string()))
    }
}

/// Finishes outcomes, each with its place; returns the places of those that still had their claim.
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
    let standing = session.pairs(&query)?;
    Ok(standing.into_iter().filter_map(|(place, _)| usize::try_from(place).ok()).collect())
}

/// The columns of lanes: accounts, endpoints, epochs.
fn columns(lanes: impl IntoIterator<Item = Lane>) -> (Vec<String>, Vec<String>, Bind<'static>) {
    let (mut accounts, mut endpoints, mut epochs) = (Vec::new(), Vec::new(), Vec::new());
    for lane in lanes {
        accounts.push(lane.account.to_string());
        endpoints.push(lane.endpoint.to_string());
        epochs.push(Some(lane.epoch));
    }
    (accounts, endpoints, Bind::Ints(epochs))
}

/// Claims in these lanes, from their heads on, at most `limit`.
fn take(session: &mut dyn Session, claim: &DeliveryClaim, lanes: &Lanes, limit: u32) -> Result<Vec<ClaimedRow>, Fault> {
    let ids: Vec<String> = lanes.keys().map(|(endpoint, _)| endpoint.to_string()).collect();
    let take = Query::new(CLAIM)
        .bind(claim.now)
        .texts(texts(&ids))
        .column(Bind::Ints(lanes.keys().map(|(_, epoch)| Some(*epoch)).collect()))
        .column(Bind::Ints(lanes.values().copied().map(Some).collect()))
        .bind(claim.per_endpoint)
        .bind(claim.at_once)
        .bind(claim.now)
        .bind(claim.per_endpoint)
        .bind(claim.at_once)
        .bind(limit)
        .bind(claim.lease_until)
        .bind(claim.lease_until)
        .bind(claim.now);
    Ok(session.claimed(&take)?)
}

fn texts(column: &[String]) -> impl Iterator<Item = &str> {
    column.iter().map(String::as_str)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use std::thread;

    use cais_domain::event::EventType;
    use cais_domain::webhook::DeliveryStatus;
    use cais_ports::{AttemptOutcome, DeliveryAttempt, DeliveryKey, FinishedAttempt, Health};
    use cais_testkit::builders::{fresh, start};
    use cais_testkit::postgres::Cluster;

    use super::*;
    use crate::DatabaseUrl;
    use crate::engine::Engine as _;
    use crate::queue::{MOST_COUNTED, OVERDUE};

    /// So many lanes beside the long one.
    const OTHERS: i64 = 50;
    /// How much waits in the long one, and in all others together.
    const WAITING: i64 = 100_000;

    /// A server without any rows.
    fn server() -> (Postgres, DatabaseUrl) {
        let url = DatabaseUrl::parse(&Cluster::shared().unwrap().fresh_database().unwrap()).unwrap();
        crate::migrations::migrate(&url, "test").unwrap();
        (Postgres::new(&url, Duration::from_mins(1)), url)
    }

    /// Makes a long lane and some short ones; the endpoint of the long one.
    fn fill(url: &DatabaseUrl) -> String {
        let long = fresh::<cais_domain::ids::kind::Endpoint>().to_string();
        let fill = format!(
            "INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, epoch, secret, created_at, version) \
             SELECT 'a', id, 0, 'u', '*', 'active', 0, '', 0, 1 \
             FROM (SELECT '{long}' AS id UNION ALL SELECT 'e' || n FROM generate_series(1, {OTHERS}) AS n) AS e; \
             INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) \
             SELECT 'a', '{long}', 'l' || n, 0, n FROM generate_series(1, {WAITING}) AS n; \
             INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) \
             SELECT 'a', 'e' || n % {OTHERS} + 1, 's' || n, 0, n FROM generate_series(1, {WAITING}) AS n; \
             INSERT INTO deliveries (account_id, endpoint_id, id, event_id, event_type, sequence, status, created_at) \
             SELECT account_id, endpoint_id, id, id, 't', 1, 'pending', 0 FROM pending_deliveries"
        );
        Cluster::shared().unwrap().sql(url.expose(), &fill).unwrap();
        long
    }

    fn claiming(text: String, endpoint: &str, head: i64) -> Query<'_> {
        Query::once(text)
            .bind(WAITING)
            .texts([endpoint])
            .column(Bind::Ints(vec![Some(0)]))
            .column(Bind::Ints(vec![Some(head)]))
            .bind(8_i64)
            .bind(8_i64)
            .bind(WAITING)
            .bind(8_i64)
            .bind(8_i64)
            .bind(256_i64)
            .bind(WAITING + 1)
            .bind(WAITING + 1)
            .bind(WAITING)
    }

    fn finishing(text: String, endpoint: &str) -> Query<'_> {
        let one = |number| Bind::Ints(vec![number]);
        Query::once(text)
            .column(one(Some(0)))
            .texts(["a"])
            .texts([endpoint])
            .texts(["l1"])
            .column(one(Some(1)))
            .texts(["succeeded"])
            .column(one(None))
            .column(one(Some(0)))
            .column(one(Some(200)))
            .column(one(Some(1)))
            .column(Bind::Texts(vec![None]))
            .column(Bind::Texts(vec![None]))
    }

    fn cancelling(text: String) -> Query<'static> {
        Query::once(text).texts(["a"]).texts(["e1"]).column(Bind::Ints(vec![Some(0)])).bind(100_i64)
    }

    fn walking(text: String, behind: &str, lanes: i64) -> Query<'_> {
        Query::once(text).bind(behind).bind(0_i64).bind(lanes)
    }

    fn looking(text: String, now: i64) -> Query<'static> {
        Query::once(text).bind(now).bind(MOST_COUNTED)
    }

    /// The plan, and how many pages the server looked at.
    fn explain(session: &mut dyn Session, query: &Query<'_>) -> (Vec<String>, u64) {
        let plan = session.texts(query).unwrap();
        assert!(!plan.iter().any(|line| line.contains("Seq Scan")), "{plan:#?}");
        // The first such line is that of the whole.
        let buffers = plan.iter().find(|line| line.contains("Buffers: shared")).cloned().unwrap_or_default();
        let pages = buffers.split(['=', ' ']).filter_map(|word| word.parse::<u64>().ok()).sum();
        (plan, pages)
    }

    /// Statements are prepared when a service starts, with tables that may be empty; their plans are kept until the server counts rows.
    #[test]
    fn plans_that_were_made_while_there_was_nothing_are_right() {
        let (server, _url) = server();
        let mut session = server.connect_queue().unwrap();
        let plan = |text: &str| format!("EXPLAIN {text}");
        for (query, indexes) in [
            (
                claiming(plan(CLAIM), "e", 0),
                vec![
                    "pending_deliveries_leased",
                    "pending_deliveries_due",
                    "pending_deliveries_pkey",
                    "deliveries_pkey",
                    "events_pkey",
                    "endpoint_failures_pkey",
                ],
            ),
            (finishing(plan(FINISH), "e"), vec!["pending_deliveries_pkey", "deliveries_pkey", "webhook_endpoints"]),
            (
                cancelling(plan(CANCEL)),
                vec!["pending_deliveries_due", "pending_deliveries_pkey", "deliveries_pkey", "webhook_endpoints"],
            ),
            (walking(plan(LANES), "e", 1), vec!["pending_deliveries_due", "webhook_endpoints"]),
            (looking(plan(OVERDUE), 1), vec!["pending_deliveries_overdue", "webhook_endpoints"]),
        ] {
            let (plan, _) = explain(&mut *session, &query);
            let used = plan.iter().filter_map(|line| line.split_once(" using ")?.1.split(' ').next());
            let other = used.clone().find(|used| !indexes.iter().any(|index| used.starts_with(index)));
            assert_eq!(other, None, "{plan:#?}");
            assert!(indexes.iter().all(|index| used.clone().any(|used| used.starts_with(index))), "{plan:#?}");
        }
    }

    #[test]
    fn a_backlog_costs_no_more_than_its_head() {
        let (server, url) = server();
        let (long, mut session) = (fill(&url), server.connect_queue().unwrap());
        costs_no_more_than_its_head(&server, &mut *session, &long);
        // Plans change once the server has counted the rows; and claims of a node that goes down later leave leases behind.
        let leave = "UPDATE pending_deliveries SET lease_until = 1, fence = 1 WHERE id LIKE 's%' AND due_at % 5 = 0";
        for statement in ["VACUUM ANALYZE", leave] {
            Cluster::shared().unwrap().sql(url.expose(), statement).unwrap();
        }
        let mut session = server.connect_queue().unwrap();
        costs_no_more_than_its_head(&server, &mut *session, &long);
    }

    fn costs_no_more_than_its_head(server: &Postgres, session: &mut dyn Session, long: &str) {
        let look = |text: &str| format!("EXPLAIN (ANALYZE, BUFFERS) {text}");
        let (plan, pages) = explain(session, &cancelling(look(CANCEL)));
        assert!(pages < 100, "{pages} pages to look at one lane: {plan:#?}");
        let (plan, pages) = explain(session, &walking(look(LANES), "", 1_000));
        assert!(pages < 1_000, "{pages} pages to go from lane to lane: {plan:#?}");
        // Those that are due are counted, at most 10,000.
        let (plan, pages) = explain(session, &looking(look(OVERDUE), WAITING));
        assert!(pages < 12_000, "{pages} pages to find what is due: {plan:#?}");
        for head in [i64::MIN, WAITING / 2] {
            session.run(server.begin()).unwrap();
            let (plan, pages) = explain(session, &claiming(look(CLAIM), long, head));
            assert!(pages < 500, "{pages} pages to claim eight from {head} on: {plan:#?}");
            let (plan, pages) = explain(session, &finishing(look(FINISH), long));
            assert!(pages < 100, "{pages} pages to finish one: {plan:#?}");
            session.run("ROLLBACK").unwrap();
        }
    }

    /// Queues of the test with many of them.
    const QUEUES: i64 = 200_000;

    /// A delivery waits in each queue, and few of them are due.
    #[test]
    fn look_with_many_queues_costs_what_is_due() {
        let (server, url) = server();
        let fill = format!(
            "ALTER TABLE pending_deliveries SET (autovacuum_enabled = off); \
             INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, epoch, secret, created_at, version) \
             SELECT 'a' || n / 20, 'e' || n, 0, 'u', '*', 'active', 0, '', 0, 1 FROM generate_series(1, {QUEUES}) AS n; \
             INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) \
             SELECT 'a' || n / 20, 'e' || n, 'd' || n, 0, n FROM generate_series(1, {QUEUES}) AS n"
        );
        Cluster::shared().unwrap().sql(url.expose(), &fill).unwrap();
        for statement in ["SELECT 1", "ANALYZE"] {
            Cluster::shared().unwrap().sql(url.expose(), statement).unwrap();
            let mut session = server.connect_writer().unwrap();
            let look = |text: &str| format!("EXPLAIN (ANALYZE, BUFFERS) {text}");
            let (plan, pages) = explain(&mut *session, &looking(look(OVERDUE), 10));
            assert!(pages < 100, "{pages} pages to find ten that are due, {statement}: {plan:#?}");
            let (plan, pages) = explain(&mut *session, &walking(look(LANES), "e150000", 1_000));
            assert!(pages < 10_000, "{pages} pages to go along a thousand lanes, {statement}: {plan:#?}");
        }
    }

    /// A resend marks the delivery while it is in flight, and commits while the outcome of the attempt waits for the row.
    #[test]
    fn resend_committed_during_finish_is_due_at_once() {
        for (status, outcome, due_at) in [
            (DeliveryStatus::Succeeded, AttemptOutcome::Succeeded, None),
            (DeliveryStatus::Failed, AttemptOutcome::Failed, None),
            (DeliveryStatus::Pending, AttemptOutcome::Retry { due_at: start() }, Some(start())),
        ] {
            let (server, url) = server();
            let key = DeliveryKey { account: fresh(), endpoint: fresh(), id: fresh() };
            in_flight(&url, key);
            let response_body = None;
            let attempt =
                DeliveryAttempt { at: start(), status_code: None, duration_ms: 3, error: None, response_body };
            let ended_at = attempt.ended_at();
            let health = Health::Unchanged;
            let finished = FinishedAttempt { key, fence: 1, epoch: 0, tries: 1, attempt, outcome, health };
            let outcome = Outcome { finished: &finished, status, due_at };
            let mut resend = server.connect_writer().unwrap();
            resend.run("BEGIN; UPDATE pending_deliveries SET again = TRUE, tries = 0").unwrap();
            let standing = thread::scope(|scope| {
                let finishing = scope
                    .spawn(|| server.finish(&mut *server.connect_queue().unwrap(), std::slice::from_ref(&outcome)));
                wait_for_a_lock(&url);
                resend.run("COMMIT").unwrap();
                finishing.join().unwrap()
            });
            assert_eq!(standing.unwrap(), [0]);
            let row = "SELECT concat_ws(' ', due_at, coalesce(lease_until, 0), tries, again) FROM pending_deliveries";
            let row = Cluster::shared().unwrap().sql(url.expose(), row).unwrap();
            assert_eq!(row, format!("{} 0 0 f", ended_at.as_microsecond()), "{status:?}");
        }
    }

    /// Makes a delivery that is in flight.
    fn in_flight(url: &DatabaseUrl, key: DeliveryKey) {
        let DeliveryKey { account, endpoint, id } = key;
        let kind = EventType::ChargePaid.as_str();
        let make = format!(
            "INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, epoch, secret, created_at, version) \
             VALUES ('{account}', '{endpoint}', 0, 'u', '*', 'active', 0, '', 0, 1); \
             INSERT INTO deliveries (account_id, endpoint_id, id, event_id, event_type, sequence, status, created_at) \
             VALUES ('{account}', '{endpoint}', '{id}', 'v', '{kind}', 1, 'pending', 0); \
             INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, fence, due_at, lease_until) \
             VALUES ('{account}', '{endpoint}', '{id}', 0, 1, {LEASE}, {LEASE})",
            LEASE = i64::MAX
        );
        Cluster::shared().unwrap().sql(url.expose(), &make).unwrap();
    }

    /// Returns when a statement in the database waits for a lock.
    fn wait_for_a_lock(url: &DatabaseUrl) {
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let began = Instant::now();
        while Cluster::shared().unwrap().sql(url.expose(), waiting).unwrap() == "0" {
            assert!(began.elapsed() < Duration::from_mins(1), "no statement waits for the row");
            thread::sleep(Duration::from_millis(20));
        }
    }
}
