//! Rows of API keys.

use cais_domain::api_key::{KeyPrefix, Scopes};
use cais_ports::{ApiKeyRecord, SecretMac};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::{bytes32, corrupt, id, instant, optional_instant};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "api_keys";

/// The columns, in the order of a row, of a table that is called `k`.
macro_rules! key_columns {
    () => {
        "k.prefix, k.id, k.account_id, k.name, k.mac, k.scopes, k.allowed_addresses, k.created_at, k.expires_at, k.revoked_at, k.version"
    };
}
pub(crate) use key_columns;

/// Their types.
pub(crate) type KeyColumns =
    (Text, Text, Text, Text, Binary, Text, Text, BigInt, Nullable<BigInt>, Nullable<BigInt>, BigInt);

/// A key as it is read.
pub(crate) type KeyRow = (String, String, String, String, Vec<u8>, String, String, i64, Option<i64>, Option<i64>, i64);

/// New keys.
pub(crate) static INSERT: Spec = Spec::insert(
    TABLE,
    &[
        ("prefix", Kind::Text),
        ("id", Kind::Text),
        ("account_id", Kind::Text),
        ("name", Kind::Text),
        ("mac", Kind::Bytes),
        ("scopes", Kind::Text),
        ("allowed_addresses", Kind::Text),
        ("created_at", Kind::Int),
        ("expires_at", Kind::Int),
        ("revoked_at", Kind::Int),
        ("version", Kind::Int),
    ],
);

/// Changed keys.
pub(crate) static UPDATE: Spec = Spec::update(
    TABLE,
    &[("expires_at", Kind::Int), ("revoked_at", Kind::Int), ("version", Kind::Int)],
    &[("prefix", Kind::Text), ("version", Kind::Int)],
);

/// The row of a new key.
pub(crate) fn inserted(key: &ApiKeyRecord, version: i64) -> Vec<Value<'_>> {
    vec![
        key.prefix.as_str().into(),
        key.id.into(),
        key.account.into(),
        key.name.as_str().into(),
        key.mac.0.as_slice().into(),
        key.scopes.to_string().into(),
        key.allowed_addresses.join("\n").into(),
        key.created_at.into(),
        key.expires_at.into(),
        key.revoked_at.into(),
        version.into(),
    ]
}

/// The row of a changed key, where `read` is the version that was read.
pub(crate) fn updated(key: &ApiKeyRecord, version: i64, read: i64) -> Vec<Value<'_>> {
    vec![key.expires_at.into(), key.revoked_at.into(), version.into(), key.prefix.as_str().into(), read.into()]
}

/// The key of a row.
pub(crate) fn read(row: KeyRow) -> Result<ApiKeyRecord, Fault> {
    let (prefix, key, account, name, mac, scopes, allowed_addresses, created_at, expires_at, revoked_at, version) = row;
    let scopes = match scopes.as_str() {
        "" => Scopes::default(),
        list => Scopes::parse(list).map_err(|error| corrupt(TABLE, error))?,
    };
    Ok(ApiKeyRecord {
        id: id(TABLE, &key)?,
        prefix: KeyPrefix::parse(&prefix).map_err(|error| corrupt(TABLE, error))?,
        account: id(TABLE, &account)?,
        name,
        mac: SecretMac(bytes32(TABLE, &mac)?),
        scopes,
        expires_at: optional_instant(TABLE, expires_at)?,
        allowed_addresses: allowed_addresses.lines().map(str::to_owned).collect(),
        revoked_at: optional_instant(TABLE, revoked_at)?,
        created_at: instant(TABLE, created_at)?,
        version,
    })
}
