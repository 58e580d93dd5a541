//! A browser's session in the dashboard.

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

/// A session. The browser has its secret in a cookie. The store has only a hash of the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The identifier.
    pub id: SessionId,
    /// The user who logged in.
    pub user: UserId,
    /// The account of the user. `None` for an operator.
    pub account: Option<AccountId>,
    /// The hash of the secret.
    pub keyed_hash: SecretHash,
    /// The progress of the login.
    pub stage: SessionStage,
    /// The IP address of the browser at the login.
    pub address: String,
    /// The browser's `User-Agent`.
    pub agent: String,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The instant at which the session ends at the latest.
    pub expires_at: Timestamp,
    /// The time of the last use. The time is stored at most once a minute.
    pub seen_at: Timestamp,
    /// The number of wrong one-time codes during the login.
    pub wrong_codes: u32,
    /// The sum of the payouts and refunds that were approved in this session since its last one-time code.
    pub sent_without_code: Money,
    /// The instant at which the session was ended before `expires_at`, for example by a logout. `None` if the session
    /// was not ended.
    pub ended_at: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}
