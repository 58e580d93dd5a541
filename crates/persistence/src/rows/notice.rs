//! Rows of callbacks from upstream.

use cais_ports::{Notice, NoticeState};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::{acquirer, id, instant, optional_instant, small, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "notices";

/// The columns, in the order of a row.
pub(crate) const COLUMNS: &str = "id, acquirer, body, received_at, state, attempts, due_at, version";

/// Their types.
pub(crate) type NoticeColumns = (Text, Text, Binary, BigInt, Text, BigInt, Nullable<BigInt>, BigInt);

/// A notice as it is read.
pub(crate) type NoticeRow = (String, String, Vec<u8>, i64, String, i64, Option<i64>, i64);

/// New notices.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[
        ("id", Kind::Text),
        ("acquirer", Kind::Text),
        ("body", Kind::Bytes),
        ("received_at", Kind::Int),
        ("state", Kind::Text),
        ("attempts", Kind::Int),
        ("due_at", Kind::Int),
        ("version", Kind::Int),
    ],
);

/// Notices that were looked into.
pub(crate) static UPDATE: Spec = Spec::update(
    TABLE,
    &[("state", Kind::Text), ("attempts", Kind::Int), ("due_at", Kind::Int), ("version", Kind::Int)],
    &[("id", Kind::Text), ("version", Kind::Int)],
);

/// The row of a new notice.
pub(crate) fn inserted(notice: &Notice, version: i64) -> Vec<Value<'_>> {
    let mut row = vec![
        notice.id.into(),
        notice.acquirer.as_str().into(),
        notice.body.as_slice().into(),
        notice.received_at.into(),
    ];
    row.extend(changing(notice, version));
    row
}

/// The row of a changed notice, where `read` is the version that was read.
pub(crate) fn updated(notice: &Notice, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = changing(notice, version);
    row.extend([notice.id.into(), read.into()]);
    row
}

fn changing(notice: &Notice, version: i64) -> Vec<Value<'_>> {
    vec![notice.state.as_str().into(), notice.attempts.into(), notice.due_at.into(), version.into()]
}

/// The notice of a row.
pub(crate) fn read(row: NoticeRow) -> Result<Notice, Fault> {
    let (notice, from, body, received_at, state, attempts, due_at, version) = row;
    Ok(Notice {
        id: id(TABLE, &notice)?,
        acquirer: acquirer(TABLE, &from)?,
        body,
        received_at: instant(TABLE, received_at)?,
        state: word(TABLE, &state, NoticeState::parse)?,
        attempts: small(TABLE, attempts)?,
        due_at: optional_instant(TABLE, due_at)?,
        version,
    })
}
