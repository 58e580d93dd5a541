//! The queues with due deliveries. A queue contains the pending deliveries to one endpoint in one epoch. A queue has ended if the endpoint
//! is disabled, is deleted, or has a later epoch.
//!
//! A first query ([`OVERDUE`]) reads the rows that are overdue the longest. Nearly always these are all due rows, so the query finds every
//! queue with due deliveries. If more rows are due than the query counts, a second query goes along an index from queue to queue. Both
//! queries read a bounded number of rows, regardless of the number of queues and deliveries.

use std::sync::{Mutex, PoisonError};

use cais_ports::{DueQueues, EndpointQueue};
use jiff::Timestamp;

use super::QueueEngine;
use super::link::Work;
use crate::error::Fault;
use crate::rows::delivery::{self, QueueHead, QueueState};
use crate::sql::{Query, Session};

/// The largest number of due rows that [`OVERDUE`] counts.
pub(crate) const MOST_COUNTED: u32 = 10_000;
/// The largest number of queues that the second query visits. So many visits take about 0.1 s on a busy server.
const QUEUES_PER_SEARCH: u32 = 10_000;
/// The largest number of queues that one step of [`CancelWalk`] visits. So many visits take about 10 ms on a busy server. The cancellations
/// are not urgent, because readers already see the deliveries as cancelled.
const QUEUES_PER_WALK: u32 = 1_000;

/// A statement that reads queues. The CTEs in `$heads` end with `heads`: the first row of each queue, with the place of the queue in the
/// result. The last column of the result is the number of a [`QueueState`].
macro_rules! queues_text {
    ($heads:literal) => {
        concat!(
            "WITH RECURSIVE ",
            $heads,
            " SELECT h.account_id, h.endpoint_id, h.epoch, h.due_at, CAST(1 AS BIGINT), \
             CAST(CASE WHEN w.id IS NULL THEN 0 WHEN w.state = 'inactive' THEN 1 ELSE 2 END AS BIGINT) FROM heads AS h LEFT JOIN webhook_endpoints AS w ON w.account_id = h.account_id AND w.id = h.endpoint_id AND w.epoch = h.epoch \
             AND w.state IN ('active', 'inactive') ORDER BY h.place"
        )
    };
}
pub(crate) use queues_text;

/// Selects the queues of the rows that are overdue the longest. The expression `0 + due_at` leads to an index over all queues. Claims do
/// not contain the expression: along that index, they would read past the due rows of all other queues.
pub(crate) const OVERDUE: &str = "SELECT o.account_id, o.endpoint_id, o.epoch, o.due_at, o.number, \
     CAST(CASE WHEN w.id IS NULL THEN 0 WHEN w.state = 'inactive' THEN 1 ELSE 2 END AS BIGINT) \
     FROM (SELECT r.account_id, r.endpoint_id, r.epoch, min(r.due_at) AS due_at, count(*) AS number \
     FROM (SELECT p.account_id, p.endpoint_id, p.epoch, p.due_at FROM pending_deliveries AS p \
     WHERE 0 + p.due_at > 0 AND 0 + p.due_at <= ? ORDER BY 0 + p.due_at LIMIT ?) AS r GROUP BY r.account_id, r.endpoint_id, r.epoch) AS o \
     LEFT JOIN webhook_endpoints AS w ON w.account_id = o.account_id AND w.id = o.endpoint_id AND w.epoch = o.epoch \
     AND w.state IN ('active', 'inactive')";

/// Microseconds that are subtracted from the due time of a delivery while it is set aside. [`OVERDUE`] does not read due times below zero.
/// Deliveries that are set aside keep their order, and come first in a claim.
pub(crate) const SET_ASIDE_US: i64 = 10_000_000_000_000_000;
/// The largest number of deliveries to inactive endpoints that one pass sets aside. One pass holds SQLite's write lock for about 20 ms.
const SET_ASIDE_AT_ONCE: u32 = 2_000;
/// The largest number of queues in which one pass sets deliveries aside, each with its own statement.
const SET_ASIDE_QUEUES: usize = 100;
/// Sets deliveries aside. After a wait for a locked row, PostgreSQL checks again only the conditions outside of the subquery. These
/// conditions exclude deliveries that another node set aside or claimed meanwhile.
pub(crate) const SET_ASIDE: &str = "UPDATE pending_deliveries SET due_at = due_at - ? WHERE (account_id, endpoint_id, id) IN (\
     SELECT p.account_id, p.endpoint_id, p.id FROM pending_deliveries AS p WHERE p.endpoint_id = ? AND p.epoch = ? AND p.due_at > 0 \
     AND p.due_at <= ? ORDER BY p.due_at LIMIT ?) AND due_at + 0 > 0 AND due_at + 0 <= ? \
     AND EXISTS (SELECT 1 FROM webhook_endpoints AS w WHERE w.account_id = ? AND w.id = ? AND w.epoch = ? AND w.state = 'inactive')";

/// The position of a queue in the index: its endpoint and its epoch.
type QueueKey = (String, i64);

fn queue_key(queue: &EndpointQueue) -> QueueKey {
    (queue.endpoint.to_string(), queue.epoch)
}

/// Returns at most `limit` queues with due deliveries, those behind `after` first. Also sets due deliveries to inactive endpoints aside.
pub(super) fn due(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    now: Timestamp,
    after: Option<EndpointQueue>,
    limit: u32,
) -> Result<DueQueues, Fault> {
    let overdue = read(session, &Query::new(OVERDUE).bind(now).bind(MOST_COUNTED))?;
    let counted = overdue.iter().fold(0, |sum: u64, head| sum.saturating_add(head.number));
    if let Err(fault) = set_aside(session, &overdue, now) {
        tracing::warn!(%fault, "due deliveries to inactive endpoints could not be set aside; the next pass tries again");
    }
    let active = overdue.into_iter().filter(|head| head.state == QueueState::Active);
    let mut found = DueQueues::default();
    let mut due = Vec::new();
    for head in active {
        found.backlog = found.backlog.saturating_add(head.number);
        due.push(head);
    }
    let mut last = None;
    if counted >= MOST_COUNTED.into() {
        found.oldest_due_at = due.iter().map(|head| head.due_at).min();
        (due, last) = walk(engine, session, after, QUEUES_PER_SEARCH)?;
        due.retain(|head| head.state == QueueState::Active && head.due_at <= now);
    }
    found.oldest_due_at = due.iter().map(|head| head.due_at).chain(found.oldest_due_at).min();
    let (after, limit) = (after.as_ref().map(queue_key), usize::try_from(limit).unwrap_or(usize::MAX));
    due.sort_by_cached_key(|head| {
        let key = queue_key(&head.queue);
        (after.as_ref().is_some_and(|after| key <= *after), key)
    });
    let is_cut = due.len() > limit;
    found.due = due.into_iter().take(limit).map(|head| head.queue).collect();
    found.next = if is_cut { found.due.last().copied() } else { last };
    Ok(found)
}

/// Sets due deliveries to inactive endpoints aside, so that later passes skip them.
fn set_aside(session: &mut dyn Session, overdue: &[QueueHead], now: Timestamp) -> Result<(), Fault> {
    let mut left = SET_ASIDE_AT_ONCE;
    for head in overdue.iter().filter(|head| head.state == QueueState::Inactive).take(SET_ASIDE_QUEUES) {
        let EndpointQueue { account, endpoint, epoch } = head.queue;
        let query = Query::new(SET_ASIDE).bind(SET_ASIDE_US).bind(endpoint).bind(epoch).bind(now).bind(left);
        let moved = session.execute(&query.bind(now).bind(account).bind(endpoint).bind(epoch))?;
        left = left.saturating_sub(u32::try_from(moved).unwrap_or(u32::MAX));
        if left == 0 {
            break;
        }
    }
    Ok(())
}

/// Returns a limited number of queues: those behind `after`, and then those from the first queue up to `after`. If the limit is reached,
/// also returns the last of them, because more queues may follow.
fn walk(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    after: Option<EndpointQueue>,
    most: u32,
) -> Result<(Vec<QueueHead>, Option<EndpointQueue>), Fault> {
    let mut heads = behind(engine, session, after, most)?;
    let length = |heads: &[QueueHead]| u32::try_from(heads.len()).unwrap_or(u32::MAX);
    if let Some(after) = after
        && length(&heads) < most
    {
        let rest = behind(engine, session, None, most.saturating_sub(length(&heads)))?;
        heads.extend(rest.into_iter().take_while(|head| queue_key(&head.queue) <= queue_key(&after)));
    }
    let last = heads.last().map(|head| head.queue).filter(|_| length(&heads) >= most);
    Ok((heads, last))
}

/// Returns a limited number of queues behind `after`.
fn behind(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    after: Option<EndpointQueue>,
    most: u32,
) -> Result<Vec<QueueHead>, Fault> {
    // Without `after` the search begins before every queue.
    let (endpoint, epoch) = after.as_ref().map_or((String::new(), i64::MIN), queue_key);
    read(session, &Query::new(engine.queues()).bind(endpoint).bind(epoch).bind(most))
}

fn read(session: &mut dyn Session, query: &Query<'_>) -> Result<Vec<QueueHead>, Fault> {
    session.load(query)?.iter().map(delivery::read_queue).collect()
}

/// The progress of the search for deliveries to cancel. Each step continues behind the last visited queue. After the last queue of the
/// index the search starts again.
#[derive(Debug, Default)]
pub(super) struct CancelWalk(Mutex<Option<EndpointQueue>>);

impl CancelWalk {
    /// Cancels at most `limit` deliveries in the next ended queues. Returns the number of cancelled deliveries, and the queues that still
    /// have deliveries set aside although the endpoint is active again.
    pub(super) fn step(&self, work: &mut Work<'_>, limit: u32) -> Result<(u64, Vec<EndpointQueue>), Fault> {
        let engine = work.engine();
        let after = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (heads, last) = work.session(|session| walk(&*engine, session, after, QUEUES_PER_WALK))?;
        let of = |is_meant: fn(&&QueueHead) -> bool| heads.iter().filter(is_meant).map(|head| head.queue).collect();
        let stale: Vec<EndpointQueue> = of(|head| head.state == QueueState::Ended);
        let resumed: Vec<EndpointQueue> = of(|head| head.state == QueueState::Active && head.is_set_aside);
        let mut cancelled = 0;
        if !stale.is_empty() {
            cancelled = work.transaction(|session| engine.cancel(session, &stale, limit))?;
        }
        // At the limit, more deliveries may have to be cancelled, so the next step visits the same queues again.
        if cancelled < u64::from(limit) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = last;
        }
        Ok((cancelled, resumed))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use cais_testkit::builders::fresh;

    use super::*;
    use crate::engine::Engine as _;
    use crate::sqlite::Sqlite;
    use crate::{DatabaseUrl, migrations};

    fn database() -> (tempfile::TempDir, Sqlite) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cais.db");
        migrations::migrate(&DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap(), "test").unwrap();
        let engine = Sqlite::new(&path, Duration::from_secs(1));
        (folder, engine)
    }

    #[test]
    fn deliveries_to_inactive_endpoint_are_set_aside() {
        let (_folder, engine) = database();
        let mut session = engine.connect_writer().unwrap();
        let queue = EndpointQueue { account: fresh(), endpoint: fresh(), epoch: 0 };
        let endpoint = "INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, epoch, secret, created_at, version) \
             VALUES (?, ?, 0, 'u', '*', 'inactive', 0, X'', 0, 1)";
        session.execute(&Query::new(endpoint).bind(queue.account).bind(queue.endpoint)).unwrap();
        let waiting = i64::from(SET_ASIDE_AT_ONCE) + 1;
        let fill = "INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) \
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?) SELECT ?, ?, 'd' || n, 0, n FROM n";
        session.execute(&Query::new(fill).bind(waiting).bind(queue.account).bind(queue.endpoint)).unwrap();
        let now = Timestamp::from_microsecond(1_000_000).unwrap();
        for left in [1, 0, 0] {
            assert_eq!(due(&engine, &mut *session, now, None, 10).unwrap(), DueQueues::default());
            let overdue = read(&mut *session, &Query::new(OVERDUE).bind(now).bind(MOST_COUNTED)).unwrap();
            assert_eq!(overdue.iter().map(|head| head.number).sum::<u64>(), left);
        }
        let (heads, _) = walk(&engine, &mut *session, None, 10).unwrap();
        let [head] = <[QueueHead; 1]>::try_from(heads).unwrap();
        assert_eq!((head.state, head.is_set_aside, head.due_at.as_microsecond()), (QueueState::Inactive, true, 1));
    }

    #[test]
    fn walk_in_steps_visits_every_queue() {
        let (_folder, engine) = database();
        let mut session = engine.connect_writer().unwrap();
        let mut queues: Vec<EndpointQueue> =
            (0..5).map(|epoch| EndpointQueue { account: fresh(), endpoint: fresh(), epoch }).collect();
        queues.sort_by_cached_key(queue_key);
        for queue in &queues {
            let put =
                "INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at) VALUES (?, ?, ?, ?, 7)";
            let delivery = fresh::<cais_domain::ids::kind::Delivery>();
            for id in [delivery.to_string(), format!("{delivery}2")] {
                let put = Query::new(put).bind(queue.account).bind(queue.endpoint).bind(id).bind(queue.epoch);
                session.execute(&put).unwrap();
            }
        }
        let mut step = |after, most| {
            let (heads, last) = walk(&engine, &mut *session, after, most).unwrap();
            (heads.into_iter().map(|head| head.queue).collect::<Vec<_>>(), last)
        };
        for most in [1, 2, 3, 4] {
            let (mut after, mut seen) = (None, Vec::new());
            while seen.len() < queues.len() {
                let (found, last) = step(after, most);
                assert_eq!(found.last().copied(), last, "{most}");
                seen.extend(found);
                after = last;
            }
            assert!(seen.iter().eq(queues.iter().cycle().take(seen.len())), "{most}: {seen:?}");
        }
        // A step with room for all queues visits each of them once, and returns no last queue.
        let around = |count: usize| queues.iter().cycle().skip(count).take(queues.len()).copied().collect::<Vec<_>>();
        assert_eq!(step(None, 6), (around(0), None));
        assert_eq!(step(queues.get(1).copied(), 6), (around(2), None));
    }
}
