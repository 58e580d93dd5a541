//! A session of a browser in the dashboard.

use cais_domain::ids::{AccountId, SessionId, UserId};
use cais_domain::money::Money;
use jiff::Timestamp;

use crate::keys::SecretHash;

cais_domain::named! {
    /// The progress of a login.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SessionStage {
        /// The password was right. The one-time code is not entered yet.
        Password = "password",
        /// The login is complete.
        Complete = "complete",
    }
}

/// A session. The browser has the secret, and the store has a hash of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The identifier.
    pub id: SessionId,
    /// The user who logged in.
    pub user: UserId,
    /// The account, if the user is a merchant.
    pub account: Option<AccountId>,
    /// The hash of the secret.
    pub keyed_hash: SecretHash,
    /// The progress of the login.
    pub stage: SessionStage,
    /// The address of the browser when the user logged in.
    pub address: String,
    /// The browser's `User-Agent`.
    pub agent: String,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The instant at which the session ends at the latest.
    pub expires_at: Timestamp,
    /// The time of the last use, exact to one minute.
    pub seen_at: Timestamp,
    /// The number of wrong one-time codes.
    pub wrong_codes: u32,
    /// The sum of the payouts and refunds that the session sent since the last one-time code.
    pub sent_without_code: Money,
    /// The instant at which the session was ended before `expires_at`, for example by a logout. `None` if the session
    /// was not ended.
    pub ended_at: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}
