//! Rows of idempotency claims.

use cais_domain::idempotency_key::IdempotencyKey;
use cais_ports::{Claim, ClaimRef, Fingerprint, NewClaim, StoredAnswer};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use jiff::Timestamp;

use super::{bytes32, corrupt, id, instant, optional_instant};
use crate::error::Fault;
use crate::sql::spec::{Kind, Spec};
use crate::sql::{Value, loaded};

const TABLE: &str = "idempotency_claims";

/// The columns, in the order of a row, of a table that is called `c`.
macro_rules! claim_columns {
    () => {
        "c.account_id, c.key, c.fingerprint, c.resource_id, c.fence, c.lease_until, c.due_at, c.answer_status, c.answer_request_id, \
         c.answer_body, c.created_at"
    };
}
pub(crate) use claim_columns;

/// Their types.
pub(crate) type ClaimColumns = (
    Text,
    Text,
    Binary,
    Text,
    BigInt,
    BigInt,
    Nullable<BigInt>,
    Nullable<BigInt>,
    Nullable<Text>,
    Nullable<Binary>,
    BigInt,
);

/// A claim as it is read.
pub(crate) type ClaimRow =
    (String, String, Vec<u8>, String, i64, i64, Option<i64>, Option<i64>, Option<String>, Option<Vec<u8>>, i64);

loaded! { ClaimColumns => ClaimRow }

/// What of a claim changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing<'a> {
    /// Who executes it.
    pub(crate) fence: i64,
    /// Until when; `None` leaves it.
    pub(crate) lease_until: Option<Timestamp>,
    /// When a worker takes it over.
    pub(crate) due_at: Option<Timestamp>,
    /// What was answered.
    pub(crate) answer: Option<&'a StoredAnswer>,
}

impl Standing<'_> {
    /// Whether nothing changes but the answer, where `read` is the fence that was read.
    pub(crate) fn only_answers(&self, read: i64) -> bool {
        self.fence == read && self.lease_until.is_none() && self.due_at.is_none()
    }
}

/// First uses of keys that have no answer yet: nearly all of them.
pub(crate) static OPEN: Spec = Spec::insert_unless_there(
    TABLE,
    &[
        ("account_id", Kind::Text),
        ("key", Kind::Text),
        ("fingerprint", Kind::Bytes),
        ("resource_id", Kind::Text),
        ("created_at", Kind::Int),
        ("fence", Kind::Int),
        ("lease_until", Kind::Int),
        ("due_at", Kind::Int),
    ],
);

/// First uses of keys that are answered at once.
pub(crate) static INSERT: Spec = Spec::insert_unless_there(
    TABLE,
    &[
        ("account_id", Kind::Text),
        ("key", Kind::Text),
        ("fingerprint", Kind::Bytes),
        ("resource_id", Kind::Text),
        ("created_at", Kind::Int),
        ("fence", Kind::Int),
        ("lease_until", Kind::Int),
        ("due_at", Kind::Int),
        ("answer_status", Kind::Int),
        ("answer_request_id", Kind::Text),
        ("answer_body", Kind::Bytes),
    ],
);

/// Claims that are answered and change in nothing else: only unanswered ones that stand at the fence that was read.
pub(crate) static ANSWER: Spec = Spec::update(
    TABLE,
    &[("answer_status", Kind::Int), ("answer_request_id", Kind::Text), ("answer_body", Kind::Bytes)],
    &[("account_id", Kind::Text), ("key", Kind::Text), ("fence", Kind::Int)],
)
.also("due_at = NULL")
.only_if("answer_status IS NULL");

/// Claims that are taken over, answered or given back: only unanswered ones that stand at the fence that was read.
pub(crate) static UPDATE: Spec = Spec::update(
    TABLE,
    &[
        ("fence", Kind::Int),
        ("lease_until", Kind::Int),
        ("due_at", Kind::Int),
        ("answer_status", Kind::Int),
        ("answer_request_id", Kind::Text),
        ("answer_body", Kind::Bytes),
    ],
    &[("account_id", Kind::Text), ("key", Kind::Text), ("fence", Kind::Int)],
)
.keeping("lease_until")
.only_if("answer_status IS NULL");

/// The row of a first use without an answer.
pub(crate) fn opened<'a>(claim: &'a NewClaim, created_at: Timestamp, standing: &Standing<'a>) -> Vec<Value<'a>> {
    vec![
        claim.name.account.into(),
        claim.name.key.as_str().into(),
        claim.fingerprint.0.as_slice().into(),
        claim.resource.as_str().into(),
        created_at.into(),
        standing.fence.into(),
        standing.lease_until.into(),
        standing.due_at.into(),
    ]
}

/// The row of a first use.
pub(crate) fn inserted<'a>(claim: &'a NewClaim, created_at: Timestamp, standing: &Standing<'a>) -> Vec<Value<'a>> {
    let mut row = opened(claim, created_at, standing);
    row.extend(answer(standing));
    row
}

/// The row of an answer alone, where `read` is the fence that was read.
pub(crate) fn answered<'a>(name: &'a ClaimRef, answer: &'a StoredAnswer, read: i64) -> Vec<Value<'a>> {
    vec![
        i64::from(answer.status).into(),
        answer.request.into(),
        answer.body.as_slice().into(),
        name.account.into(),
        name.key.as_str().into(),
        read.into(),
    ]
}

/// The row of a change, where `read` is the fence that was read.
pub(crate) fn updated<'a>(name: &'a ClaimRef, standing: &Standing<'a>, read: i64) -> Vec<Value<'a>> {
    let mut row = vec![standing.fence.into(), standing.lease_until.into(), standing.due_at.into()];
    row.extend(answer(standing));
    row.extend([name.account.into(), name.key.as_str().into(), read.into()]);
    row
}

fn answer<'a>(standing: &Standing<'a>) -> [Value<'a>; 3] {
    [
        standing.answer.map(|answer| i64::from(answer.status)).into(),
        standing.answer.map(|answer| answer.request).into(),
        standing.answer.map(|answer| answer.body.as_slice()).into(),
    ]
}

/// The claim of a row.
pub(crate) fn read(row: ClaimRow) -> Result<Claim, Fault> {
    let (account, key, fingerprint, resource, fence, lease_until, due_at, status, request, body, created_at) = row;
    let answer = match (status, request, body) {
        (Some(status), Some(request), Some(body)) => Some(StoredAnswer {
            status: u16::try_from(status).map_err(|error| corrupt(TABLE, error))?,
            request: id(TABLE, &request)?,
            body,
        }),
        (None, None, None) => None,
        (Some(_) | None, Some(_) | None, Some(_) | None) => return Err(corrupt(TABLE, "half an answer")),
    };
    Ok(Claim {
        name: ClaimRef {
            account: id(TABLE, &account)?,
            key: IdempotencyKey::parse(&key).map_err(|error| corrupt(TABLE, error))?,
        },
        fingerprint: Fingerprint(bytes32(TABLE, &fingerprint)?),
        resource,
        fence,
        lease_until: instant(TABLE, lease_until)?,
        due_at: optional_instant(TABLE, due_at)?,
        answer,
        created_at: instant(TABLE, created_at)?,
    })
}
