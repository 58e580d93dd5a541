//! Rows of API keys.

use cais_domain::merchant::api_key::{KeyPrefix, Scopes};
use cais_ports::{ApiKeyRecord, SecretHash};

use super::{Record, bytes32, id, instant, optional_instant, parsed, us};
use crate::error::Fault;
use crate::rows::account::AccountRow;
use crate::sql::loaded;
use crate::sql::table::{Row, table};

const TABLE: &str = "api_keys";

table! {
    /// The row of an API key.
    KeyRow of api_keys
    key { prefix: Text }
    fixed {
        id: Text, account_id: Text, name: Text, keyed_hash: Binary, scopes: Text, allowed_addresses: Text,
        created_at: BigInt,
    }
    changing { version: BigInt, expires_at: Nullable<BigInt>, revoked_at: Nullable<BigInt> }
}

loaded! {
    (<KeyRow<'static> as Row<'static>>::Sql, <AccountRow<'static> as Row<'static>>::Sql) => (KeyRow<'static>, AccountRow<'static>)
}

impl Record for ApiKeyRecord {
    type Row<'a> = KeyRow<'a>;

    fn row(&self, version: i64) -> KeyRow<'_> {
        KeyRow {
            prefix: self.prefix.as_str().into(),
            id: self.id.to_string().into(),
            account_id: self.account.to_string().into(),
            name: self.name.as_str().into(),
            keyed_hash: self.keyed_hash.0.as_slice().into(),
            scopes: self.scopes.to_string().into(),
            allowed_addresses: self.allowed_addresses.join("\n").into(),
            created_at: self.created_at.as_microsecond(),
            version,
            expires_at: us(self.expires_at),
            revoked_at: us(self.revoked_at),
        }
    }

    fn read(row: KeyRow<'_>) -> Result<Self, Fault> {
        let scopes = match row.scopes.as_ref() {
            "" => Scopes::default(),
            list => parsed(TABLE, Scopes::parse(list))?,
        };
        Ok(Self {
            id: id(TABLE, &row.id)?,
            prefix: parsed(TABLE, KeyPrefix::parse(&row.prefix))?,
            account: id(TABLE, &row.account_id)?,
            name: row.name.into_owned(),
            keyed_hash: SecretHash(bytes32(TABLE, &row.keyed_hash)?),
            scopes,
            expires_at: optional_instant(TABLE, row.expires_at)?,
            allowed_addresses: row.allowed_addresses.lines().map(str::to_owned).collect(),
            revoked_at: optional_instant(TABLE, row.revoked_at)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}
