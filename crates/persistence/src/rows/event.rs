//! Rows of events, and of the counters that number them.

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_ports::{NewEvent, StoredEvent};
use diesel::sql_types::{BigInt, Binary, Text};

use super::{corrupt, id, instant, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "events";

/// The columns, in the order of a row.
pub(crate) const COLUMNS: &str = "id, sequence, type, body, created_at";

/// Their types.
pub(crate) type EventColumns = (Text, BigInt, Text, Binary, BigInt);

/// An event as it is read.
pub(crate) type EventRow = (String, i64, String, Vec<u8>, i64);

/// An event that got its number, with the body that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbered<'a> {
    pub(crate) event: &'a NewEvent,
    pub(crate) sequence: i64,
    pub(crate) body: Vec<u8>,
}

/// New events.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[
        ("account_id", Kind::Text),
        ("sequence", Kind::Int),
        ("id", Kind::Text),
        ("type", Kind::Text),
        ("resource_id", Kind::Text),
        ("body", Kind::Bytes),
        ("created_at", Kind::Int),
    ],
);

/// Counters of accounts that had no event yet.
pub(crate) static OPEN_COUNTER: Spec =
    Spec::insert_unless_there("event_counters", &[("account_id", Kind::Text), ("last_sequence", Kind::Int)]);

/// Counters after a batch.
pub(crate) static UPDATE_COUNTER: Spec =
    Spec::update("event_counters", &[("last_sequence", Kind::Int)], &[("account_id", Kind::Text)]);

/// The row of an event.
pub(crate) fn inserted<'a>(numbered: &'a Numbered<'_>) -> Vec<Value<'a>> {
    let event = numbered.event;
    vec![
        event.account.into(),
        numbered.sequence.into(),
        event.id.into(),
        event.kind.as_str().into(),
        event.resource.as_str().into(),
        numbered.body.as_slice().into(),
        event.at.into(),
    ]
}

/// The row of a counter that is opened.
pub(crate) fn opened(account: AccountId) -> Vec<Value<'static>> {
    vec![account.into(), 0_i64.into()]
}

/// The row of a counter that moved on.
pub(crate) fn counted(account: AccountId, last_sequence: i64) -> Vec<Value<'static>> {
    vec![last_sequence.into(), account.into()]
}

/// The event of a row.
pub(crate) fn read((event, sequence, kind, body, created_at): EventRow) -> Result<StoredEvent, Fault> {
    if sequence < 1 {
        return Err(corrupt(TABLE, "an event without a place"));
    }
    Ok(StoredEvent {
        id: id(TABLE, &event)?,
        sequence,
        kind: word(TABLE, &kind, EventType::parse)?,
        body,
        created_at: instant(TABLE, created_at)?,
    })
}
