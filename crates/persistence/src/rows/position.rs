//! Rows of positions in acquirers' lists of infractions.

use cais_ports::PollPosition;

use super::{acquirer, instant};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "infraction_positions";

/// The columns, in the order of a row.
pub(crate) const COLUMNS: &str = "acquirer, seen_until, version";

/// First positions.
pub(crate) static INSERT: Spec =
    Spec::insert(TABLE, &[("acquirer", Kind::Text), ("seen_until", Kind::Int), ("version", Kind::Int)]);

/// Positions that moved on.
pub(crate) static UPDATE: Spec = Spec::update(
    TABLE,
    &[("seen_until", Kind::Int), ("version", Kind::Int)],
    &[("acquirer", Kind::Text), ("version", Kind::Int)],
);

/// The row of a first position.
pub(crate) fn inserted(position: &PollPosition, version: i64) -> Vec<Value<'_>> {
    vec![position.acquirer.as_str().into(), position.seen_until.into(), version.into()]
}

/// The row of a position that moved on, where `read` is the version that was read.
pub(crate) fn updated(position: &PollPosition, version: i64, read: i64) -> Vec<Value<'_>> {
    vec![position.seen_until.into(), version.into(), position.acquirer.as_str().into(), read.into()]
}

/// The position of a row.
pub(crate) fn read((name, seen_until, version): (String, i64, i64)) -> Result<PollPosition, Fault> {
    Ok(PollPosition { acquirer: acquirer(TABLE, &name)?, seen_until: instant(TABLE, seen_until)?, version })
}
