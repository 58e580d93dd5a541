//! Rows of confirmations: actions of the dashboard that wait for a one-time code.

use cais_ports::{Confirmation, ConfirmationState, PendingAction};

use super::parse_account;
use crate::error::Fault;
use crate::rows::{Record, corrupt, id, instant, parse_enum, to_u32};
use crate::sql::table::table;

const TABLE: &str = "confirmations";

table! {
    /// The row of a confirmation.
    ConfirmationRow of confirmations
    key { id: Text }
    fixed {
        user_id: Text, account_id: Nullable<Text>, session_id: Text, action: Text, terms: Text, created_at: BigInt,
        expires_at: BigInt,
    }
    changing { version: BigInt, state: Text, wrong_codes: BigInt }
}

impl Record for Confirmation {
    type Row<'a> = ConfirmationRow<'a>;

    fn row(&self, version: i64) -> ConfirmationRow<'_> {
        ConfirmationRow {
            id: self.id.to_string().into(),
            user_id: self.user.to_string().into(),
            account_id: self.account.map(|account| account.to_string().into()),
            session_id: self.session.to_string().into(),
            action: self.action.kind().into(),
            terms: self.action.terms().into(),
            created_at: self.created_at.as_microsecond(),
            expires_at: self.expires_at.as_microsecond(),
            version,
            state: self.state.as_str().into(),
            wrong_codes: self.wrong_codes.into(),
        }
    }

    fn read(row: ConfirmationRow<'_>) -> Result<Self, Fault> {
        let action = PendingAction::parse(&row.action, &row.terms);
        Ok(Self {
            id: id(TABLE, &row.id)?,
            user: id(TABLE, &row.user_id)?,
            account: parse_account(TABLE, row.account_id.as_deref())?,
            session: id(TABLE, &row.session_id)?,
            action: action.ok_or_else(|| {
                corrupt(TABLE, format_args!("the terms of the action `{}` cannot be read", row.action))
            })?,
            created_at: instant(TABLE, row.created_at)?,
            expires_at: instant(TABLE, row.expires_at)?,
            state: parse_enum(TABLE, &row.state, ConfirmationState::parse)?,
            wrong_codes: to_u32(TABLE, row.wrong_codes)?,
            version: row.version,
        })
    }
}
