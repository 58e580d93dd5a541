//! Rows of events, and of the counters that number them.

use cais_domain::ids::AccountId;
use cais_ports::NewEvent;

use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

/// New events.
pub(crate) static INSERT: Spec = Spec::insert(
    "events",
    &[
        ("account_id", Kind::Text),
        ("sequence", Kind::Int),
        ("id", Kind::Text),
        ("type", Kind::Text),
        ("resource_id", Kind::Text),
        ("data", Kind::Bytes),
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
pub(crate) fn inserted(event: &NewEvent, sequence: i64) -> Vec<Value<'_>> {
    vec![
        event.account.into(),
        sequence.into(),
        event.id.into(),
        event.kind.as_str().into(),
        event.resource.as_str().into(),
        event.data.as_slice().into(),
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
