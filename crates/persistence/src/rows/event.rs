//! Rows of events, of the counters that number them, and of endpoint failures.

use cais_commit_rules::NumberedEvent;
use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_ports::StoredEvent;

use super::{corrupt, id, instant, parse_enum};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};
use crate::sql::table::{Row as _, table};

const TABLE: &str = "events";

table! {
    /// The row of an event.
    EventRow of events
    key { account_id: Text, sequence: BigInt }
    fixed { id: Text, r#type: Text, resource_id: Text, data: Binary, created_at: BigInt }
}

diesel::table! {
    endpoint_failures (account_id, endpoint_id, epoch) {
        account_id -> Text,
        endpoint_id -> Text,
        epoch -> BigInt,
        failing_since -> BigInt,
    }
}

/// Inserts new events.
pub(crate) static INSERT: Spec = Spec::insert_rows::<EventRow<'_>>();

/// Inserts counters of accounts that had no event yet.
pub(crate) static OPEN_COUNTER: Spec =
    Spec::insert_unless_there("event_counters", &[("account_id", Kind::Text), ("last_sequence", Kind::Int)]);

/// Updates counters after a batch.
pub(crate) static UPDATE_COUNTER: Spec =
    Spec::update("event_counters", &[("last_sequence", Kind::Int)], &[("account_id", Kind::Text)]);

/// Returns the row of an event.
pub(crate) fn inserted<'a>(numbered: &'a NumberedEvent<'_>) -> Vec<Value<'a>> {
    let event = &numbered.event;
    let row = EventRow {
        account_id: event.account.to_string().into(),
        sequence: numbered.sequence,
        id: event.id.to_string().into(),
        r#type: event.kind.as_str().into(),
        resource_id: event.resource.as_str().into(),
        data: event.data.as_slice().into(),
        created_at: event.at.as_microsecond(),
    };
    row.values()
}

/// Returns the row of a new counter.
pub(crate) fn opened(account: AccountId) -> Vec<Value<'static>> {
    vec![account.into(), 0_i64.into()]
}

/// Returns the row of an increased counter.
pub(crate) fn counted(account: AccountId, last_sequence: i64) -> Vec<Value<'static>> {
    vec![last_sequence.into(), account.into()]
}

/// Returns the event of a row.
pub(crate) fn read(row: EventRow<'_>) -> Result<StoredEvent, Fault> {
    if row.sequence < 1 {
        return Err(corrupt(TABLE, "the sequence number of an event is below 1"));
    }
    Ok(StoredEvent {
        id: id(TABLE, &row.id)?,
        sequence: row.sequence,
        kind: parse_enum(TABLE, &row.r#type, EventType::parse)?,
        data: row.data.into_owned(),
        created_at: instant(TABLE, row.created_at)?,
    })
}
