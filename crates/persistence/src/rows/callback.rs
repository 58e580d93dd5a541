//! Rows of callbacks from upstream.

use cais_ports::{Callback, CallbackState};

use super::{Record, acquirer, id, instant, optional_instant, parse_enum, to_u32, us};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "callbacks";

table! {
    /// The row of a callback.
    CallbackRow of callbacks
    key { id: Text }
    fixed { acquirer: Text, body: Binary, received_at: BigInt }
    changing { version: BigInt, state: Text, attempts: BigInt, due_at: Nullable<BigInt> }
}

impl Record for Callback {
    type Row<'a> = CallbackRow<'a>;

    fn row(&self, version: i64) -> CallbackRow<'_> {
        CallbackRow {
            id: self.id.to_string().into(),
            acquirer: self.acquirer.as_str().into(),
            body: self.body.as_slice().into(),
            received_at: self.received_at.as_microsecond(),
            version,
            state: self.state.as_str().into(),
            attempts: self.attempts.into(),
            due_at: us(self.due_at),
        }
    }

    fn read(row: CallbackRow<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: id(TABLE, &row.id)?,
            acquirer: acquirer(TABLE, &row.acquirer)?,
            body: row.body.into_owned(),
            received_at: instant(TABLE, row.received_at)?,
            state: parse_enum(TABLE, &row.state, CallbackState::parse)?,
            attempts: to_u32(TABLE, row.attempts)?,
            due_at: optional_instant(TABLE, row.due_at)?,
            version: row.version,
        })
    }
}
