//! Rows of releases.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::release::Release;
use diesel::sql_types::{BigInt, Nullable, Text};

use super::{corrupt, id, instant, optional_instant};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "releases";

/// The columns, in the order of a row.
pub(crate) const COLUMNS: &str = "account_id, end_to_end_id, charge_id, amount, due_at, released_at, version";

/// Their types.
pub(crate) type ReleaseColumns = (Text, Text, Text, BigInt, BigInt, Nullable<BigInt>, BigInt);

/// A release as it is read.
pub(crate) type ReleaseRow = (String, String, String, i64, i64, Option<i64>, i64);

/// New releases.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[
        ("account_id", Kind::Text),
        ("end_to_end_id", Kind::Text),
        ("charge_id", Kind::Text),
        ("amount", Kind::Int),
        ("due_at", Kind::Int),
        ("released_at", Kind::Int),
        ("version", Kind::Int),
    ],
);

/// Releases that are made.
pub(crate) static UPDATE: Spec = Spec::update(
    TABLE,
    &[("released_at", Kind::Int), ("version", Kind::Int)],
    &[("account_id", Kind::Text), ("end_to_end_id", Kind::Text), ("version", Kind::Int)],
);

/// The row of a new release.
pub(crate) fn inserted(release: &Release, version: i64) -> Vec<Value<'_>> {
    vec![
        release.account.into(),
        release.end_to_end_id.as_str().into(),
        release.charge.into(),
        release.amount.into(),
        release.due_at.into(),
        release.released_at.into(),
        version.into(),
    ]
}

/// The row of a release that is made, where `read` is the version that was read.
pub(crate) fn updated(release: &Release, version: i64, read: i64) -> Vec<Value<'_>> {
    vec![
        release.released_at.into(),
        version.into(),
        release.account.into(),
        release.end_to_end_id.as_str().into(),
        read.into(),
    ]
}

/// The release of a row.
pub(crate) fn read(row: ReleaseRow) -> Result<Release, Fault> {
    let (account, end_to_end_id, charge, amount, due_at, released_at, version) = row;
    let (due_at, released_at) = (instant(TABLE, due_at)?, optional_instant(TABLE, released_at)?);
    if released_at.is_some_and(|released_at| released_at < due_at) {
        return Err(corrupt(TABLE, "released before its time"));
    }
    Ok(Release {
        account: id(TABLE, &account)?,
        end_to_end_id: EndToEndId::parse(&end_to_end_id).map_err(|error| corrupt(TABLE, error))?,
        charge: id(TABLE, &charge)?,
        amount: Money::from_centavos(amount),
        due_at,
        released_at,
        version,
    })
}
