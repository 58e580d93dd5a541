//! A session: a browser that logged in.

use cais_domain::ids::{AccountId, SessionId, UserId};
use cais_domain::money::Money;
use jiff::Timestamp;

use crate::keys::SecretHash;

cais_domain::named! {
    /// The progress of a login.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SessionStage {
        /// The password was right; the one-time code is missing.
        Password = "password",
        /// The login is complete.
        Complete = "complete",
    }
}

/// A session. The browser holds its secret, and the store a hash of the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The identifier.
    pub id: SessionId,
    /// The user.
    pub user: UserId,
    /// The account of a merchant.
    pub account: Option<AccountId>,
    /// The hash of the secret.
    pub keyed_hash: SecretHash,
    /// The progress of the login.
    pub stage: SessionStage,
    /// The address of the browser at its login.
    pub address: String,
    /// The browser, as it names itself.
    pub agent: String,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The absolute end.
    pub expires_at: Timestamp,
    /// The last use, exact to a minute.
    pub seen_at: Timestamp,
    /// The number of wrong one-time codes.
    pub wrong_codes: u32,
    /// The sum of the payouts that the session sent since its last one-time code.
    pub sent_without_code: Money,
    /// The end, if a person or a rule ended the session early.
    pub ended_at: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}
