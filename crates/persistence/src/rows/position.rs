//! Rows of positions in acquirers' lists.

use cais_ports::{PollPosition, UpstreamList};

use super::{Record, acquirer, instant, parse_enum};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "list_positions";

table! {
    /// The row of a position: all rows of the list before `seen_until` were read.
    PositionRow of list_positions
    key { acquirer: Text, list: Text }
    fixed {}
    changing { version: BigInt, seen_until: BigInt }
}

impl Record for PollPosition {
    type Row<'a> = PositionRow<'a>;

    fn row(&self, version: i64) -> PositionRow<'_> {
        PositionRow {
            acquirer: self.acquirer.as_str().into(),
            list: self.list.as_str().into(),
            version,
            seen_until: self.seen_until.as_microsecond(),
        }
    }

    fn read(row: PositionRow<'_>) -> Result<Self, Fault> {
        Ok(Self {
            acquirer: acquirer(TABLE, &row.acquirer)?,
            list: parse_enum(TABLE, &row.list, |word| {
                UpstreamList::ALL.into_iter().find(|list| list.as_str() == word)
            })?,
            seen_until: instant(TABLE, row.seen_until)?,
            version: row.version,
        })
    }
}
