//! A person who logs in to the dashboard.

use cais_domain::ids::{AccountId, UserId};
use cais_domain::merchant::webhook::SealedSecret;
use jiff::Timestamp;

use super::PasswordHash;
use crate::keys::SecretHash;

/// The pages that a user may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The holder of an account.
    Merchant(AccountId),
    /// An operator of the installation.
    Operator,
}

impl Role {
    /// Returns the account of a merchant.
    #[must_use]
    pub const fn account(self) -> Option<AccountId> {
        match self {
            Self::Merchant(account) => Some(account),
            Self::Operator => None,
        }
    }
}

/// The authenticator of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Totp {
    /// No authenticator yet.
    Missing,
    /// The secret was shown, and no code of it was entered yet.
    Enrolling {
        /// The secret, encrypted for the user's id.
        secret: SealedSecret,
    },
    /// The authenticator is in use.
    Enrolled {
        /// The secret, encrypted for the user's id.
        secret: SealedSecret,
        /// The time step of the last used code.
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
    /// The end of the link.
    pub expires_at: Timestamp,
}

/// A user of the dashboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The identifier.
    pub id: UserId,
    /// The e-mail in lower case, unique among users.
    pub email: String,
    /// The pages that the user may see.
    pub role: Role,
    /// The password; `None` before the first link was used.
    pub password: Option<PasswordHash>,
    /// The authenticator.
    pub totp: Totp,
    /// The open link.
    pub invitation: Option<Invitation>,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}
