//! Lanes with something to do, found from one to the next along the index of the queue: what lies in a lane is not looked at.

use cais_ports::{DueLanes, Lane};
use jiff::Timestamp;

use super::QueueEngine;
use crate::error::Fault;
use crate::rows::delivery;
use crate::sql::{Query, Session};

/// A statement that finds lanes with something due, those behind a place first and then the others, where the CTE `heads` has the first row of each lane.
macro_rules! due_lanes_text {
    ($heads:expr) => {
        concat!(
            "WITH RECURSIVE ",
            $heads,
            ", due AS MATERIALIZED (SELECT h.account_id, h.endpoint_id, h.epoch, h.due_at FROM heads AS h \
             CROSS JOIN webhook_endpoints AS w WHERE w.account_id = h.account_id AND w.id = h.endpoint_id AND w.epoch = h.epoch AND w.state = 'active' AND h.due_at <= ?), \
             counted AS MATERIALIZED (SELECT count(*) AS backlog FROM (SELECT 1 FROM due AS d CROSS JOIN pending_deliveries AS p \
             WHERE p.endpoint_id = d.endpoint_id AND p.epoch = d.epoch AND p.due_at <= ? LIMIT 10000) AS b), \
             oldest AS MATERIALIZED (SELECT min(d.due_at) AS due_at FROM due AS d) \
             SELECT d.account_id, d.endpoint_id, d.epoch, o.due_at, c.backlog FROM due AS d CROSS JOIN counted AS c CROSS JOIN oldest AS o \
             ORDER BY (d.endpoint_id, d.epoch) <= (?, ?), d.endpoint_id, d.epoch LIMIT ?"
        )
    };
}
pub(crate) use due_lanes_text;

/// A CTE of what waits in lanes that nobody serves any more, at most so much, where the CTE `heads` has the first row of each lane.
macro_rules! stale_text {
    ($heads:expr) => {
        concat!(
            "WITH RECURSIVE ",
            $heads,
            ", lost AS MATERIALIZED (SELECT h.endpoint_id, h.epoch FROM heads AS h \
             LEFT JOIN webhook_endpoints AS w ON w.account_id = h.account_id AND w.id = h.endpoint_id AND w.epoch = h.epoch \
             AND w.state = 'active' WHERE w.id IS NULL), \
             stale AS MATERIALIZED (SELECT p.account_id, p.endpoint_id, p.id, p.epoch FROM lost AS l CROSS JOIN pending_deliveries AS p \
             WHERE p.endpoint_id = l.endpoint_id AND p.epoch = l.epoch LIMIT ?)"
        )
    };
}
pub(crate) use stale_text;

/// The lanes with something due, those behind `after` first.
pub(super) fn due(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    now: Timestamp,
    after: Option<Lane>,
    limit: u32,
) -> Result<DueLanes, Fault> {
    // Every lane is behind that place.
    let (endpoint, epoch) = after.map_or((String::new(), i64::MIN), |lane| (lane.endpoint.to_string(), lane.epoch));
    let query = Query::new(engine.due_lanes()).bind(now).bind(now);
    let query = query.bind(endpoint.as_str()).bind(epoch).bind(limit.saturating_add(1));
    let (rows, limit) = (session.lanes(&query)?, usize::try_from(limit).unwrap_or(usize::MAX));
    let mut found = DueLanes { more: rows.len() > limit, ..DueLanes::default() };
    for row in rows.into_iter().take(limit) {
        let (lane, oldest_due_at, backlog) = delivery::read_lane(&row)?;
        found.oldest_due_at = Some(oldest_due_at);
        found.backlog = backlog;
        found.due.push(lane);
    }
    Ok(found)
}
