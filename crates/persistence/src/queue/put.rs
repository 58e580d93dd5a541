//! Deliveries that the committer does not create: test deliveries and resends. Below, both are called requested deliveries.

use std::collections::{BTreeMap, BTreeSet};

use cais_domain::ids::DeliveryId;
use cais_ports::{EndpointQueue, NewDelivery};

use super::QueueEngine;
use crate::committer::Op;
use crate::engine::{Lookup, find};
use crate::error::Fault;
use crate::rows::delivery;
use crate::sql::{Query, Session};

/// Selects existing deliveries by their event. A condition on the account is not needed, because an event belongs to one account. Without
/// it, the server considers only the index that begins with the event.
static EXISTING: Lookup =
    Lookup::new("d.account_id, d.event_id, d.endpoint_id, d.id", "deliveries AS d", "d", &["event_id"]);
static EVENTS: Lookup = Lookup::new("e.account_id, e.id, e.id, e.id", "events AS e", "e", &["account_id", "id"]);

const FENCE: &str = "SELECT id, status, fence FROM deliveries WHERE account_id = ? AND endpoint_id = ? AND id = ?";
const START_AGAIN: &str = "UPDATE pending_deliveries SET epoch = ?, tries = 0, requested_at = ?, \
     resend_requested = CASE WHEN epoch = ? AND lease_until > ? THEN TRUE ELSE FALSE END, \
     due_at = CASE WHEN epoch = ? AND lease_until > ? THEN due_at ELSE ? END, \
     lease_until = CASE WHEN epoch = ? AND lease_until > ? THEN lease_until END \
     WHERE account_id = ? AND endpoint_id = ? AND id = ?";
const ENQUEUE: &str = "INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, fence, due_at, requested_at) \
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
const OPEN: &str = "UPDATE deliveries SET status = 'pending' WHERE account_id = ? AND endpoint_id = ? AND id = ?";

/// Selects the requested deliveries that wait in the queue of one endpoint.
pub(crate) const REQUESTED: &str =
    "SELECT id FROM pending_deliveries WHERE endpoint_id = ? AND epoch = ? AND requested_at IS NOT NULL LIMIT ?";

/// The unique key of a delivery, or a part of it: account, event, endpoint.
type Key = Vec<String>;

/// Adds requested deliveries. If a delivery of the same event and endpoint exists, that delivery starts again instead ([`start_again`]).
/// Returns the identifiers of all of them, in the order of `deliveries`. Returns `None` if more than `most` requested deliveries would wait
/// for one endpoint. Without `most` their number has no limit.
pub(super) fn put(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    deliveries: &[NewDelivery],
    most: Option<u32>,
) -> Result<Option<Vec<DeliveryId>>, Fault> {
    let requested: BTreeMap<Key, &NewDelivery> = deliveries.iter().rev().map(|new| (key(new), new)).collect();
    lock_events(engine, session, requested.values().copied())?;
    let events: BTreeSet<Key> = deliveries.iter().map(|new| vec![new.event.to_string()]).collect();
    let events: Vec<Key> = events.into_iter().collect();
    let existing: Vec<(String, String, String, String)> = find(engine, session, &EXISTING, &events, false)?;
    let mut ids = BTreeMap::new();
    for (account, event, endpoint, id) in existing {
        let id: DeliveryId = DeliveryId::parse(&id).map_err(|error| Fault::Corrupt(error.to_string()))?;
        ids.insert(vec![account, event, endpoint], id);
    }
    if let Some(most) = most
        && exceeds(session, requested.iter().map(|(key, new)| (new.queue, *ids.get(key).unwrap_or(&new.id))), most)?
    {
        return Ok(None);
    }
    let new: Vec<&NewDelivery> =
        requested.iter().filter(|(key, _)| !ids.contains_key(*key)).map(|(_, new)| *new).collect();
    add(engine, session, &new)?;
    for (key, new) in &requested {
        match ids.get(key) {
            Some(id) => start_again(engine, session, new, *id)?,
            None => {
                ids.insert(key.clone(), new.id);
            }
        }
    }
    Ok(Some(deliveries.iter().filter_map(|new| ids.get(&key(new)).copied()).collect()))
}

/// Returns whether, together with `requested`, more than `most` requested deliveries would wait for one endpoint.
fn exceeds(
    session: &mut dyn Session,
    requested: impl Iterator<Item = (EndpointQueue, DeliveryId)>,
    most: u32,
) -> Result<bool, Fault> {
    let mut by_queue: BTreeMap<EndpointQueue, BTreeSet<String>> = BTreeMap::new();
    for (queue, id) in requested {
        by_queue.entry(queue).or_default().insert(id.to_string());
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    for (queue, mut ids) in by_queue {
        // A delivery of `requested` may be waiting already, and then counts only once.
        let limit = i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX);
        ids.extend(session.load(&Query::new(REQUESTED).bind(queue.endpoint).bind(queue.epoch).bind(limit))?);
        if ids.len() > most {
            return Ok(true);
        }
    }
    Ok(false)
}

fn key(new: &NewDelivery) -> Key {
    vec![new.queue.account.to_string(), new.event.to_string(), new.queue.endpoint.to_string()]
}

/// Locks the events, so that housekeeping removes none of them meanwhile. Fails if one was removed already, because a removed event cannot
/// be sent again. Test deliveries have no event to lock.
fn lock_events<'d>(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    deliveries: impl Iterator<Item = &'d NewDelivery>,
) -> Result<(), Fault> {
    let kept = deliveries.filter(|new| new.sequence.is_some());
    let keys: BTreeSet<Key> = kept.map(|new| vec![new.queue.account.to_string(), new.event.to_string()]).collect();
    let keys: Vec<Key> = keys.into_iter().collect();
    let found: Vec<(String, String, String, String)> = find(engine, session, &EVENTS, &keys, true)?;
    if found.len() == keys.len() { Ok(()) } else { Err(Fault::Again("an event was removed concurrently".into())) }
}

fn add(engine: &dyn QueueEngine, session: &mut dyn Session, new: &[&NewDelivery]) -> Result<(), Fault> {
    if new.is_empty() {
        return Ok(());
    }
    let ops = [
        Op::guarded(&delivery::INSERT_UNLESS_THERE, new.iter().map(|new| delivery::inserted(new)).collect()),
        Op::guarded(&delivery::ENQUEUE_REQUESTED, new.iter().map(|new| delivery::enqueued_request(new)).collect()),
    ];
    if engine.apply(session, &ops)? {
        Ok(())
    } else {
        Err(Fault::Again("another transaction inserted the same delivery".into()))
    }
}

/// Restarts the schedule of an existing delivery, which becomes due at once. Exception: while an attempt in the same epoch runs under a
/// valid lease, the delivery becomes due when that attempt ends. The outcome of any other running attempt no longer counts.
fn start_again(
    engine: &dyn QueueEngine,
    session: &mut dyn Session,
    new: &NewDelivery,
    id: DeliveryId,
) -> Result<(), Fault> {
    let queue = new.queue;
    let named = |query: Query<'static>| query.bind(queue.account).bind(queue.endpoint).bind(id);
    let (epoch, at) = (queue.epoch, new.at);
    let again = Query::new(START_AGAIN)
        .bind(epoch)
        .bind(at)
        .bind(epoch)
        .bind(at)
        .bind(epoch)
        .bind(at)
        .bind(at)
        .bind(epoch)
        .bind(at);
    if session.execute(&named(again))? > 0 {
        return Ok(());
    }
    // The delivery has no row in the queue, so it has ended. The new row continues with the stored fence. If the insert finds a row,
    // another transaction inserted it meanwhile, and the row is kept.
    let Some((.., fence)) =
        session.load::<(String, String, i64)>(&named(Query::new(format!("{FENCE}{}", engine.row_lock()))))?.pop()
    else {
        return Err(Fault::Again("a delivery was removed concurrently".into()));
    };
    session.execute(&named(Query::new(ENQUEUE)).bind(queue.epoch).bind(fence).bind(new.at).bind(new.at))?;
    session.execute(&named(Query::new(OPEN)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use cais_testkit::builders::{a_test_delivery, an_account, an_endpoint, fresh};

    use super::*;
    use crate::engine::Engine as _;
    use crate::sqlite::Sqlite;
    use crate::{DatabaseUrl, migrations};

    #[test]
    fn removed_delivery_is_not_put_into_the_queue() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cais.db");
        migrations::migrate(&DatabaseUrl::parse(&format!("sqlite:{}", path.display())).unwrap(), "test").unwrap();
        let engine = Sqlite::new(&path, Duration::from_secs(1));
        let mut session = engine.connect_writer().unwrap();
        let test = a_test_delivery(&an_endpoint(an_account().id, 0));
        let waiting = |session: &mut dyn Session| {
            session.load(&Query::new("SELECT count(*), 0 FROM pending_deliveries")).unwrap().pop()
        };
        let again = start_again(&engine, &mut *session, &test, fresh());
        assert!(matches!(again, Err(Fault::Again(_))), "{again:?}");
        assert_eq!(waiting(&mut *session), Some((0, 0)));
        // A repeated call creates the delivery again.
        assert_eq!(put(&engine, &mut *session, std::slice::from_ref(&test), Some(1)).unwrap(), Some(vec![test.id]));
        assert_eq!(waiting(&mut *session), Some((1, 0)));
    }
}
