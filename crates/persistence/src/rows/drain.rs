//! Rows of drained acquirers.

use cais_ports::AcquirerDrain;

use super::{Record, acquirer, instant};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "acquirer_drains";

table! {
    /// The row of a drain. `since` is null after the end of the drain.
    DrainRow of acquirer_drains
    key { acquirer: Text }
    fixed {}
    changing { version: BigInt, since: Nullable<BigInt> }
}

impl Record for AcquirerDrain {
    type Row<'a> = DrainRow<'a>;

    fn row(&self, version: i64) -> DrainRow<'_> {
        DrainRow {
            acquirer: self.acquirer.as_str().into(),
            version,
            since: self.since.map(jiff::Timestamp::as_microsecond),
        }
    }

    fn read(row: DrainRow<'_>) -> Result<Self, Fault> {
        Ok(Self {
            acquirer: acquirer(TABLE, &row.acquirer)?,
            since: row.since.map(|since| instant(TABLE, since)).transpose()?,
            version: row.version,
        })
    }
}
