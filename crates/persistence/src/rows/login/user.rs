//! Rows of users of the dashboard.

use std::borrow::Cow;

use cais_domain::merchant::webhook::SealedSecret;
use cais_ports::{Invitation, PasswordHash, Role, SecretHash, Totp, User};

use super::parse_account;
use crate::error::Fault;
use crate::rows::{Record, bytes32, corrupt, id, instant};
use crate::sql::table::table;

const TABLE: &str = "users";
/// The bytes of the hash of a recovery code.
const HASH_BYTES: usize = 32;

table! {
    /// The row of a user. If `totp_last_step` is null, the authenticator is not in use yet.
    UserRow of users
    key { id: Text }
    fixed { email: Text, account_id: Nullable<Text>, created_at: BigInt }
    changing {
        version: BigInt, password_hash: Nullable<Text>, totp_secret: Nullable<Binary>, totp_last_step: Nullable<BigInt>,
        recovery_hashes: Binary, invitation_hash: Nullable<Binary>, invitation_until: Nullable<BigInt>,
    }
}

impl Record for User {
    type Row<'a> = UserRow<'a>;

    fn row(&self, version: i64) -> UserRow<'_> {
        let (secret, last_step, recovery): (Option<&SealedSecret>, Option<i64>, &[SecretHash]) = match &self.totp {
            Totp::Missing => (None, None, &[]),
            Totp::Enrolling { secret } => (Some(secret), None, &[]),
            Totp::Enrolled { secret, last_step, recovery } => (Some(secret), Some(*last_step), recovery),
        };
        UserRow {
            id: self.id.to_string().into(),
            email: self.email.as_str().into(),
            account_id: self.role.account().map(|account| account.to_string().into()),
            created_at: self.created_at.as_microsecond(),
            version,
            password_hash: self.password.as_ref().map(|PasswordHash(text)| text.as_str().into()),
            totp_secret: secret.map(|SealedSecret(bytes)| bytes.as_slice().into()),
            totp_last_step: last_step,
            recovery_hashes: Cow::Owned(recovery.iter().flat_map(|SecretHash(bytes)| *bytes).collect()),
            invitation_hash: self.invitation.as_ref().map(|open| open.hash.0.as_slice().into()),
            invitation_until: self.invitation.map(|open| open.expires_at.as_microsecond()),
        }
    }

    fn read(row: UserRow<'_>) -> Result<Self, Fault> {
        let recovery: Vec<SecretHash> = row
            .recovery_hashes
            .chunks(HASH_BYTES)
            .map(|bytes| bytes32(TABLE, bytes).map(SecretHash))
            .collect::<Result<_, _>>()?;
        let totp = match (row.totp_secret.map(Cow::into_owned).map(SealedSecret), row.totp_last_step) {
            (None, None) if recovery.is_empty() => Totp::Missing,
            (Some(secret), None) if recovery.is_empty() => Totp::Enrolling { secret },
            (Some(secret), Some(last_step)) => Totp::Enrolled { secret, last_step, recovery },
            (None | Some(_), None) | (None, Some(_)) => {
                return Err(corrupt(TABLE, "the columns of the authenticator contradict each other"));
            }
        };
        let invitation = match (row.invitation_hash, row.invitation_until) {
            (Some(hash), Some(until)) => {
                Some(Invitation { hash: SecretHash(bytes32(TABLE, &hash)?), expires_at: instant(TABLE, until)? })
            }
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(corrupt(TABLE, "the invitation lacks its hash or its expiry"));
            }
        };
        Ok(Self {
            id: id(TABLE, &row.id)?,
            email: row.email.into_owned(),
            role: parse_account(TABLE, row.account_id.as_deref())?.map_or(Role::Operator, Role::Merchant),
            password: row.password_hash.map(|text| PasswordHash(text.into_owned())),
            totp,
            invitation,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}
