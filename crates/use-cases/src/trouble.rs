//! What can go wrong with the store, sorted by what a caller can do about it.

use cais_domain::charge::ChargeError;
use cais_domain::infraction::InfractionError;
use cais_domain::payout::PayoutError;
use cais_ports::{CommitError, EncryptError, QueryError};

/// Seconds after which a caller may try again when the store or an acquirer did not answer.
pub const RETRY_AFTER_S: u32 = 2;

/// How often a decision is taken again when a record changed between its reading and its writing.
///
/// Each round means that somebody else's change became true, so a handful is plenty for one record.
pub(crate) const DECISIONS: usize = 8;

/// Why a use case could not do its work, whatever it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The store does not answer just now; the same call may succeed later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Something is as it never should be.
    #[error("{0}")]
    Internal(String),
}

impl Trouble {
    /// A record changed every time it was decided on.
    pub(crate) fn contended() -> Self {
        Self::Unavailable("the record kept changing".to_owned())
    }
}

impl From<QueryError> for Trouble {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Unavailable(reason) => Self::Unavailable(reason),
            QueryError::Corrupt(_) => Self::Internal(error.to_string()),
        }
    }
}

impl From<CommitError> for Trouble {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Unavailable(reason) => Self::Unavailable(reason),
            CommitError::Stale => Self::contended(),
            CommitError::NotCovered { .. }
            | CommitError::Taken { .. }
            | CommitError::Claimed { .. }
            | CommitError::Corrupt(_) => Self::Internal(error.to_string()),
        }
    }
}

impl From<EncryptError> for Trouble {
    fn from(error: EncryptError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<ChargeError> for Trouble {
    fn from(error: ChargeError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<PayoutError> for Trouble {
    fn from(error: PayoutError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<InfractionError> for Trouble {
    fn from(error: InfractionError) -> Self {
        Self::Internal(error.to_string())
    }
}
