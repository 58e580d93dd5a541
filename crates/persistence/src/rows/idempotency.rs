//! Rows of idempotency records.

use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_ports::{Fingerprint, IdempotencyRecord, IdempotencyRef, NewIdempotencyRecord, ResponseKind, StoredResponse};
use jiff::Timestamp;

use super::{bytes32, corrupt, id, instant, optional_instant, parse_enum, parsed};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Column, Kind, Spec};
use crate::sql::table::{Row as _, table};

const TABLE: &str = "idempotency_records";

table! {
    /// The row of an idempotency record.
    IdempotencyRow of idempotency_records
    key { account_id: Text, key: Text }
    fixed { fingerprint: Binary, resource_id: Text, created_at: BigInt }
    changing {
        fence: BigInt, lease_until: BigInt, due_at: Nullable<BigInt>,
        response_kind: Nullable<Text>, response_request_id: Nullable<Text>, response_body: Nullable<Binary>,
    }
}

/// The columns without the answer, and those of the answer.
const SPLIT: (&[Column], &[Column]) = IdempotencyRow::COLUMNS.split_at(IdempotencyRow::FIXED + 3);

/// The columns that find a record at the fence that was read.
const READ: &[Column] = &[("account_id", Kind::Text), ("key", Kind::Text), ("fence", Kind::Int)];

/// The changing columns of an idempotency record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing<'a> {
    /// The fence of the lease's holder.
    pub(crate) fence: i64,
    /// The end of the lease; `None` leaves it unchanged.
    pub(crate) lease_until: Option<Timestamp>,
    /// The instant from which a worker may take over; `None` if no worker may.
    pub(crate) due_at: Option<Timestamp>,
    /// The stored answer.
    pub(crate) answer: Option<&'a StoredResponse>,
}

impl Standing<'_> {
    /// Returns whether only the answer changes, so that [`ANSWER`] is enough. `read` is the fence that was read.
    pub(crate) fn only_answers(&self, read: i64) -> bool {
        self.fence == read && self.lease_until.is_none() && self.due_at.is_none()
    }
}

/// Inserts the records of first uses that have no answer yet, as nearly all first uses.
pub(crate) static OPEN: Spec = Spec::insert_unless_there(TABLE, SPLIT.0);

/// Inserts the records of first uses that have an answer at once.
pub(crate) static INSERT: Spec = Spec::insert_unless_there(TABLE, IdempotencyRow::COLUMNS);

/// Stores the answers of unanswered records at the fence that was read. Also removes the due time, because no worker has to take over an
/// answered record.
pub(crate) static ANSWER: Spec =
    Spec::update(TABLE, SPLIT.1, READ).also("due_at = NULL").only_if("response_kind IS NULL");

/// Updates records that are taken over, answered or released. Changes only unanswered records at the fence that was read.
pub(crate) static UPDATE: Spec = Spec::update(TABLE, IdempotencyRow::COLUMNS.split_at(IdempotencyRow::FIXED).1, READ)
    .keeping("lease_until")
    .only_if("response_kind IS NULL");

/// Returns the values of a first use without an answer.
pub(crate) fn opened<'a>(
    record: &'a NewIdempotencyRecord,
    created_at: Timestamp,
    standing: &Standing<'a>,
) -> Vec<Value<'a>> {
    vec![
        record.name.account.into(),
        record.name.key.as_str().into(),
        record.fingerprint.0.as_slice().into(),
        record.resource.as_str().into(),
        created_at.into(),
        standing.fence.into(),
        standing.lease_until.into(),
        standing.due_at.into(),
    ]
}

/// Returns the values of a first use.
pub(crate) fn inserted<'a>(
    record: &'a NewIdempotencyRecord,
    created_at: Timestamp,
    standing: &Standing<'a>,
) -> Vec<Value<'a>> {
    let mut row = opened(record, created_at, standing);
    row.extend(answer(standing));
    row
}

/// Returns the values of an answer; `read` is the fence that was read.
pub(crate) fn answered<'a>(name: &'a IdempotencyRef, answer: &'a StoredResponse, read: i64) -> Vec<Value<'a>> {
    vec![
        answer.kind.as_str().into(),
        answer.request.into(),
        answer.body.as_slice().into(),
        name.account.into(),
        name.key.as_str().into(),
        read.into(),
    ]
}

/// Returns the values of a change; `read` is the fence that was read.
pub(crate) fn updated<'a>(name: &'a IdempotencyRef, standing: &Standing<'a>, read: i64) -> Vec<Value<'a>> {
    let mut row = vec![standing.fence.into(), standing.lease_until.into(), standing.due_at.into()];
    row.extend(answer(standing));
    row.extend([name.account.into(), name.key.as_str().into(), read.into()]);
    row
}

fn answer<'a>(standing: &Standing<'a>) -> [Value<'a>; 3] {
    [
        standing.answer.map(|answer| answer.kind.as_str()).into(),
        standing.answer.map(|answer| answer.request).into(),
        standing.answer.map(|answer| answer.body.as_slice()).into(),
    ]
}

/// Returns the idempotency record of a row.
pub(crate) fn read(row: IdempotencyRow<'_>) -> Result<IdempotencyRecord, Fault> {
    let answer = match (row.response_kind, row.response_request_id, row.response_body) {
        (Some(kind), Some(request), Some(body)) => Some(StoredResponse {
            kind: parse_enum(TABLE, &kind, ResponseKind::parse)?,
            request: id(TABLE, &request)?,
            body: body.into_owned(),
        }),
        (None, None, None) => None,
        (Some(_) | None, Some(_) | None, Some(_) | None) => {
            return Err(corrupt(TABLE, "the stored response is incomplete"));
        }
    };
    Ok(IdempotencyRecord {
        name: IdempotencyRef {
            account: id(TABLE, &row.account_id)?,
            key: parsed(TABLE, IdempotencyKey::parse(&row.key))?,
        },
        fingerprint: Fingerprint(bytes32(TABLE, &row.fingerprint)?),
        resource: row.resource_id.into_owned(),
        fence: row.fence,
        lease_until: instant(TABLE, row.lease_until)?,
        due_at: optional_instant(TABLE, row.due_at)?,
        answer,
        created_at: instant(TABLE, row.created_at)?,
    })
}
