//! Rows of sessions of the dashboard.

use cais_domain::money::Money;
use cais_ports::{SecretHash, Session, SessionStage};

use super::parse_account;
use crate::error::Fault;
use crate::rows::{Record, bytes32, id, instant, optional_instant, parse_enum, to_u32, us};
use crate::sql::table::table;

const TABLE: &str = "sessions";

table! {
    /// The row of a session.
    SessionRow of sessions
    key { id: Text }
    fixed {
        user_id: Text, account_id: Nullable<Text>, keyed_hash: Binary, stage: Text, address: Text, agent: Text,
        created_at: BigInt, expires_at: BigInt,
    }
    changing { version: BigInt, seen_at: BigInt, wrong_codes: BigInt, sent_without_code: BigInt, ended_at: Nullable<BigInt> }
}

impl Record for Session {
    type Row<'a> = SessionRow<'a>;

    fn row(&self, version: i64) -> SessionRow<'_> {
        SessionRow {
            id: self.id.to_string().into(),
            user_id: self.user.to_string().into(),
            account_id: self.account.map(|account| account.to_string().into()),
            keyed_hash: self.keyed_hash.0.as_slice().into(),
            stage: self.stage.as_str().into(),
            address: self.address.as_str().into(),
            agent: self.agent.as_str().into(),
            created_at: self.created_at.as_microsecond(),
            expires_at: self.expires_at.as_microsecond(),
            version,
            seen_at: self.seen_at.as_microsecond(),
            wrong_codes: self.wrong_codes.into(),
            sent_without_code: self.sent_without_code.centavos(),
            ended_at: us(self.ended_at),
        }
    }

    fn read(row: SessionRow<'_>) -> Result<Self, Fault> {
        Ok(Self {
            id: id(TABLE, &row.id)?,
            user: id(TABLE, &row.user_id)?,
            account: parse_account(TABLE, row.account_id.as_deref())?,
            keyed_hash: SecretHash(bytes32(TABLE, &row.keyed_hash)?),
            stage: parse_enum(TABLE, &row.stage, SessionStage::parse)?,
            address: row.address.into_owned(),
            agent: row.agent.into_owned(),
            created_at: instant(TABLE, row.created_at)?,
            expires_at: instant(TABLE, row.expires_at)?,
            seen_at: instant(TABLE, row.seen_at)?,
            wrong_codes: to_u32(TABLE, row.wrong_codes)?,
            sent_without_code: Money::from_centavos(row.sent_without_code),
            ended_at: optional_instant(TABLE, row.ended_at)?,
            version: row.version,
        })
    }
}
