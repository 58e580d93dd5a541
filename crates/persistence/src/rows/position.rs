//! Rows of positions in acquirers' lists.

use cais_ports::{PollPosition, UpstreamList};

use super::{acquirer, instant};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "list_positions";

/// The columns that are read, in the order of a row: the list is known to who reads.
pub(crate) const COLUMNS: &str = "acquirer, seen_until, version";

/// First positions.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[("acquirer", Kind::Text), ("list", Kind::Text), ("seen_until", Kind::Int), ("version", Kind::Int)],
);

/// Positions that moved.
pub(crate) static UPDATE: Spec = Spec::update(
    TABLE,
    &[("seen_until", Kind::Int), ("version", Kind::Int)],
    &[("acquirer", Kind::Text), ("list", Kind::Text), ("version", Kind::Int)],
);

/// The row of a first position.
pub(crate) fn inserted(position: &PollPosition, version: i64) -> Vec<Value<'_>> {
    let list = position.list.as_str().into();
    vec![position.acquirer.as_str().into(), list, position.seen_until.into(), version.into()]
}

/// The row of a position that moved, where `read` is the version that was read.
pub(crate) fn updated(position: &PollPosition, version: i64, read: i64) -> Vec<Value<'_>> {
    let (name, list) = (position.acquirer.as_str().into(), position.list.as_str().into());
    vec![position.seen_until.into(), version.into(), name, list, read.into()]
}

/// The position of a row of that list.
pub(crate) fn read(list: UpstreamList, (name, seen_until, version): (String, i64, i64)) -> Result<PollPosition, Fault> {
    Ok(PollPosition { acquirer: acquirer(TABLE, &name)?, list, seen_until: instant(TABLE, seen_until)?, version })
}
