//! Rows of deliveries. Each delivery has a permanent row, and a row in the queue while it is pending.

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_ports::{DeliveredEvent, Delivery, DeliveryAttempt, DeliveryKey, EndpointQueue, NewDelivery, StoredEvent};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use jiff::Timestamp;

use super::{corrupt, id, instant, optional_instant, parse_enum, to_u32};
use crate::error::Fault;
use crate::queue::SET_ASIDE_US;
use crate::sql::spec::{Column, Kind, Spec};
use crate::sql::{Value, loaded};

const TABLE: &str = "deliveries";
const ATTEMPTS: &str = "delivery_attempts";

const COLUMNS: &[Column] = &[
    ("account_id", Kind::Text),
    ("endpoint_id", Kind::Text),
    ("id", Kind::Text),
    ("event_id", Kind::Text),
    ("event_type", Kind::Text),
    ("sequence", Kind::Int),
    ("status", Kind::Text),
    ("created_at", Kind::Int),
];

/// Inserts new deliveries. Each also needs a queue row: see [`ENQUEUE`].
pub(crate) static INSERT: Spec = Spec::insert(TABLE, COLUMNS);

/// Inserts new deliveries, unless a delivery of the same event and endpoint exists.
pub(crate) static INSERT_UNLESS_THERE: Spec = Spec::insert_unless_there(TABLE, COLUMNS);

/// The table of pending deliveries.
const QUEUE: &str = "pending_deliveries";
/// The columns of a new queue row. Only a test delivery or a resend fills the last one.
const QUEUED: &[(&str, Kind)] = &[
    ("account_id", Kind::Text),
    ("endpoint_id", Kind::Text),
    ("id", Kind::Text),
    ("epoch", Kind::Int),
    ("due_at", Kind::Int),
    ("requested_at", Kind::Int),
];

/// Inserts a queue row for a new delivery, which is due at once. The other columns keep their defaults.
pub(crate) static ENQUEUE: Spec = Spec::insert(QUEUE, QUEUED.split_at(5).0);

/// Inserts a queue row for a test delivery or a resend.
pub(crate) static ENQUEUE_REQUESTED: Spec = Spec::insert(QUEUE, QUEUED);

/// Returns the values of a new delivery.
pub(crate) fn inserted(new: &NewDelivery) -> Vec<Value<'_>> {
    vec![
        new.queue.account.into(),
        new.queue.endpoint.into(),
        new.id.into(),
        new.event.into(),
        new.kind.as_str().into(),
        new.sequence.into(),
        DeliveryStatus::Pending.as_str().into(),
        new.at.into(),
    ]
}

/// Returns the values of the queue row of a new delivery.
pub(crate) fn enqueued(new: &NewDelivery) -> Vec<Value<'static>> {
    vec![new.queue.account.into(), new.queue.endpoint.into(), new.id.into(), new.queue.epoch.into(), new.at.into()]
}

/// Returns the values of the queue row of a test delivery or a resend.
pub(crate) fn enqueued_request(new: &NewDelivery) -> Vec<Value<'static>> {
    let mut row = enqueued(new);
    row.push(new.at.into());
    row
}

/// The columns of a listed delivery with one of its attempts. A delivery has a row for each attempt, and one row if there are no attempts.
pub(crate) type DeliveryColumns = (
    (Text, Text, Text, Text, Text, BigInt),
    (Nullable<BigInt>, BigInt),
    (Nullable<BigInt>, Nullable<BigInt>, Nullable<BigInt>, Nullable<BigInt>, Nullable<Text>, Nullable<Text>),
);

/// Identifier, endpoint, event, type, status, instant of creation.
type Facts = (String, String, String, String, String, i64);
/// The due time of a pending delivery, and the [`QueueState`] of its queue.
type Waiting = (Option<i64>, i64);
/// Fence, start, HTTP status, duration in milliseconds, error, body of the reply.
type Tried = (Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<String>, Option<String>);

/// The read row of a delivery with one of its attempts.
pub(crate) type DeliveryRow = (Facts, Waiting, Tried);

loaded! { DeliveryColumns => DeliveryRow }

/// Returns deliveries from rows that are ordered by delivery and attempt.
pub(crate) fn read_all(rows: Vec<DeliveryRow>) -> Result<Vec<Delivery>, Fault> {
    let mut deliveries: Vec<Delivery> = Vec::new();
    for (facts, waiting, tried) in rows {
        let attempt = attempt(tried)?;
        let next = delivery(&facts, waiting)?;
        match deliveries.last_mut().filter(|last| last.id == next.id) {
            Some(last) => last.attempts.extend(attempt),
            None => deliveries.push(Delivery { attempts: attempt.into_iter().collect(), ..next }),
        }
    }
    Ok(deliveries)
}

fn delivery(facts: &Facts, (due_at, queue): Waiting) -> Result<Delivery, Fault> {
    let (delivery, endpoint, event, kind, status, created_at) = facts;
    let stored = parse_enum(TABLE, status, DeliveryStatus::parse)?;
    let (status, next_attempt_at) = match (stored, due_at.map(since).transpose()?) {
        (DeliveryStatus::Pending, Some((due_at, _))) => match QueueState::read(queue)? {
            QueueState::Ended => (DeliveryStatus::Cancelled, None),
            QueueState::Inactive => (stored, None),
            QueueState::Active => (stored, Some(due_at)),
        },
        (DeliveryStatus::Succeeded | DeliveryStatus::Failed | DeliveryStatus::Cancelled, None) => (stored, None),
        (DeliveryStatus::Pending, None) => return Err(corrupt(TABLE, "a pending delivery is not in the queue")),
        (DeliveryStatus::Succeeded | DeliveryStatus::Failed | DeliveryStatus::Cancelled, Some(_)) => {
            return Err(corrupt(TABLE, "a finished delivery is in the queue"));
        }
    };
    Ok(Delivery {
        id: id(TABLE, delivery)?,
        endpoint: id(TABLE, endpoint)?,
        event: id(TABLE, event)?,
        kind: parse_enum(TABLE, kind, EventType::parse)?,
        status,
        attempts: Vec::new(),
        next_attempt_at,
        created_at: instant(TABLE, *created_at)?,
    })
}

fn attempt(tried: Tried) -> Result<Option<DeliveryAttempt>, Fault> {
    let (Some(_), Some(at), status_code, Some(duration_ms), error, response_body) = tried else {
        return Ok(None);
    };
    Ok(Some(DeliveryAttempt {
        at: instant(ATTEMPTS, at)?,
        status_code: status_code
            .map(|code| u16::try_from(code).map_err(|error| corrupt(ATTEMPTS, error)))
            .transpose()?,
        duration_ms: to_u32(ATTEMPTS, duration_ms)?,
        error,
        response_body,
    }))
}

/// A queue: account, endpoint, epoch, earliest due time, number of counted rows, and [`QueueState`].
pub(crate) type QueueColumns = (Text, Text, BigInt, BigInt, BigInt, BigInt);

/// The read row of a queue.
pub(crate) type QueueRow = (String, String, i64, i64, i64, i64);

loaded! { QueueColumns => QueueRow }

/// The state of a queue, which determines the state of its deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueState {
    /// The deliveries are cancelled: the endpoint was disabled or deleted, or has a later epoch.
    Ended,
    /// The deliveries wait: the endpoint is inactive.
    Inactive,
    /// The deliveries are sent: the endpoint is active.
    Active,
}

impl QueueState {
    fn read(number: i64) -> Result<Self, Fault> {
        match number {
            0 => Ok(Self::Ended),
            1 => Ok(Self::Inactive),
            2 => Ok(Self::Active),
            _ => Err(corrupt(TABLE, "a queue has an unknown state")),
        }
    }
}

/// Returns the due time of a delivery, and whether the delivery was set aside while its endpoint was inactive.
fn since(due_at: i64) -> Result<(Timestamp, bool), Fault> {
    let is_set_aside = due_at < 0;
    let shown = if is_set_aside { due_at.saturating_add(SET_ASIDE_US) } else { due_at };
    Ok((instant(TABLE, shown)?, is_set_aside))
}

/// A queue with facts about its pending deliveries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueueHead {
    pub(crate) queue: EndpointQueue,
    /// The earliest due time of its deliveries.
    pub(crate) due_at: Timestamp,
    /// The number of its due deliveries that `OVERDUE` counted; 1 after a walk from queue to queue, which counts none.
    pub(crate) number: u64,
    /// `true` if the first delivery of the queue was set aside while its endpoint was inactive.
    pub(crate) is_set_aside: bool,
    pub(crate) state: QueueState,
}

/// Returns the queue of a row.
pub(crate) fn read_queue((account, endpoint, epoch, due_at, number, state): &QueueRow) -> Result<QueueHead, Fault> {
    let (due_at, is_set_aside) = since(*due_at)?;
    Ok(QueueHead {
        queue: EndpointQueue { account: id(TABLE, account)?, endpoint: id(TABLE, endpoint)?, epoch: *epoch },
        due_at,
        number: u64::try_from(*number).map_err(|error| corrupt(TABLE, error))?,
        is_set_aside,
        state: QueueState::read(*state)?,
    })
}

/// The columns of a claimed delivery, in four groups: key; fence and number of the attempt; event; and last the start of the endpoint's
/// failure, the due time, and the number of free slots.
pub(crate) type ClaimedColumns = (
    (Text, Text, Text),
    (BigInt, BigInt),
    (Text, Text, Nullable<BigInt>, Nullable<Binary>, BigInt),
    (Nullable<BigInt>, BigInt, BigInt),
);

/// Identifier, type, sequence number, data, instant of creation.
type EventFacts = (String, String, Option<i64>, Option<Vec<u8>>, i64);

/// The read row of a claimed delivery.
pub(crate) type ClaimedRow = ((String, String, String), (i64, i64), EventFacts, (Option<i64>, i64, i64));

loaded! { ClaimedColumns => ClaimedRow }

/// The content of a claimed delivery, without the endpoint.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) key: DeliveryKey,
    pub(crate) fence: i64,
    pub(crate) tries: u32,
    pub(crate) event: DeliveredEvent,
    pub(crate) failing_since: Option<Timestamp>,
}

fn key(account: &str, endpoint: &str, delivery: &str) -> Result<DeliveryKey, Fault> {
    Ok(DeliveryKey { account: id(TABLE, account)?, endpoint: id(TABLE, endpoint)?, id: id(TABLE, delivery)? })
}

/// Returns the claimed delivery of a row.
pub(crate) fn read_claimed(row: ClaimedRow) -> Result<Claimed, Fault> {
    let ((account, endpoint, delivery), (fence, tries), event, (failing_since, ..)) = row;
    Ok(Claimed {
        key: key(&account, &endpoint, &delivery)?,
        fence,
        tries: to_u32(TABLE, tries)?,
        event: delivered(event)?,
        failing_since: optional_instant(TABLE, failing_since)?,
    })
}

fn delivered((event, kind, sequence, data, at): EventFacts) -> Result<DeliveredEvent, Fault> {
    let (id, kind, at) = (id(TABLE, &event)?, parse_enum(TABLE, &kind, EventType::parse)?, instant(TABLE, at)?);
    match (kind, sequence, data) {
        (EventType::WebhookTest, None, None) => Ok(DeliveredEvent::Test { id, at }),
        (kind, Some(sequence), Some(data)) => {
            Ok(DeliveredEvent::Stored(StoredEvent { id, sequence, kind, data, created_at: at }))
        }
        (_, Some(_) | None, Some(_) | None) => Err(corrupt(TABLE, "the event is missing")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_testkit::builders::{fresh, start};

    use super::*;

    /// Returns the rows of a pending delivery that failed twice.
    fn rows() -> Vec<DeliveryRow> {
        let now = start().as_microsecond();
        let names = [
            fresh::<cais_domain::ids::kind::Delivery>().to_string(),
            fresh::<cais_domain::ids::kind::Endpoint>().to_string(),
            fresh::<cais_domain::ids::kind::Event>().to_string(),
        ];
        let row = |fence| {
            let [delivery, endpoint, event] = names.clone();
            let tried = (Some(fence), Some(now), Some(500), Some(12), Some("status_not_2xx".to_owned()), None);
            ((delivery, endpoint, event, "charge.paid".to_owned(), "pending".to_owned(), now), (Some(now), 2), tried)
        };
        vec![row(1), row(2)]
    }

    #[test]
    fn attempts_are_gathered_under_their_delivery() {
        let mut twice = rows();
        let mut other = rows();
        other.truncate(1);
        for row in &mut other {
            row.2 = (None, None, None, None, None, None);
        }
        twice.extend(other);
        let read = read_all(twice).unwrap();
        assert_eq!(read.iter().map(|delivery| delivery.attempts.len()).collect::<Vec<_>>(), [2, 0]);
        assert!(read.iter().all(|delivery| delivery.next_attempt_at == Some(start())));
    }

    #[test]
    fn pending_delivery_is_shown_by_state_of_its_queue() {
        let aside = start().as_microsecond() - SET_ASIDE_US;
        for (queue, due_at, shown) in [
            (0, start().as_microsecond(), (DeliveryStatus::Cancelled, None)),
            (1, start().as_microsecond(), (DeliveryStatus::Pending, None)),
            (1, aside, (DeliveryStatus::Pending, None)),
            (2, aside, (DeliveryStatus::Pending, Some(start()))),
        ] {
            let mut left = rows();
            for row in &mut left {
                row.1 = (Some(due_at), queue);
            }
            let [delivery] = <[Delivery; 1]>::try_from(read_all(left).unwrap()).unwrap();
            assert_eq!((delivery.status, delivery.next_attempt_at), shown, "{queue}");
        }
    }

    #[test]
    fn rows_that_cannot_have_been_written_are_errors() {
        let spoil: [fn(&mut DeliveryRow); 9] = [
            |row| row.0.0 = "dlv_1".to_owned(),
            |row| row.0.3 = "charge.forgotten".to_owned(),
            |row| row.0.4 = "lost".to_owned(),
            |row| row.0.4 = "succeeded".to_owned(),
            |row| row.0.5 = i64::MAX,
            |row| row.1.0 = None,
            |row| row.1.1 = 3,
            |row| row.2.2 = Some(-1),
            |row| row.2.3 = Some(-1),
        ];
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut spoilt = rows();
            spoilt.iter_mut().for_each(spoil);
            assert!(matches!(read_all(spoilt), Err(Fault::Corrupt(_))), "{number}");
        }
    }
}
