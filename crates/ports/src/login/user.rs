//! A person who logs in to the dashboard.

use cais_domain::ids::{AccountId, UserId};
use cais_domain::merchant::webhook::SealedSecret;
use jiff::Timestamp;

use super::PasswordHash;
use crate::keys::SecretHash;

/// The role of a user, which decides the pages that the user can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The holder of an account.
    Merchant(AccountId),
    /// An operator of the service.
    Operator,
}

impl Role {
    /// Returns the account. Returns `None` for an operator.
    #[must_use]
    pub const fn account(self) -> Option<AccountId> {
        match self {
            Self::Merchant(account) => Some(account),
            Self::Operator => None,
        }
    }
}

/// The authenticator of a user: an app that shows one-time codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Totp {
    /// The user has no authenticator yet.
    Missing,
    /// The secret was shown to the user, but no code was entered yet.
    Enrolling {
        /// The secret, encrypted and bound to the user's id.
        secret: SealedSecret,
    },
    /// The authenticator is in use.
    Enrolled {
        /// The secret, encrypted and bound to the user's id.
        secret: SealedSecret,
        /// The time step of the last used code. Codes of this or an earlier step are refused.
        last_step: i64,
        /// The hashes of the unused recovery codes.
        recovery: Vec<SecretHash>,
    },
}

/// A one-time link with which a user sets a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invitation {
    /// The hash of the link's secret.
    pub hash: SecretHash,
    /// The instant from which the link can no longer be used.
    pub expires_at: Timestamp,
}

/// A user of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The identifier.
    pub id: UserId,
    /// The e-mail in lower case, unique among users.
    pub email: String,
    /// The role of the user.
    pub role: Role,
    /// The hash of the password. `None` for an invited user who has not used the one-time link yet.
    pub password: Option<PasswordHash>,
    /// The authenticator.
    pub totp: Totp,
    /// The newest one-time link, until it is used. The link may have expired.
    pub invitation: Option<Invitation>,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}
