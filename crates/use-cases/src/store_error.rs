//! Errors of use cases in two classes: either the same request may succeed later, or a person must find the cause.

use cais_domain::charge::ChargeError;
use cais_domain::crypto::deposit::DepositError;
use cais_domain::crypto::withdrawal::WithdrawalError;
use cais_domain::infraction::InfractionError;
use cais_domain::payout::PayoutError;
use cais_ports::{ChangeSet, CommitError, EncryptError, QueryError};

use crate::ports::Ports;

/// Seconds after which the caller should repeat a request if the store or an acquirer did not answer.
pub const RETRY_AFTER_S: u32 = 2;

/// The largest number of attempts to decide and commit one change. If another process changes the record first, the
/// change is decided again. Few processes change one record at the same time, so a few attempts are enough.
pub(crate) const MAX_COMMIT_RETRIES: usize = 8;

/// The reason why a use case failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store did not answer. The same request may succeed later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// A bug or a damaged store.
    #[error("{0}")]
    Internal(String),
}

impl StoreError {
    /// Returns the error for a record that changed during every attempt.
    pub(crate) fn contended() -> Self {
        Self::Unavailable("the record changed during each attempt".to_owned())
    }
}

impl From<QueryError> for StoreError {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Unavailable(reason) => Self::Unavailable(reason),
            QueryError::Corrupt(_) => Self::Internal(error.to_string()),
        }
    }
}

impl From<CommitError> for StoreError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Unavailable(reason) => Self::Unavailable(reason),
            CommitError::Stale => Self::contended(),
            CommitError::NotCovered { .. }
            | CommitError::Taken { .. }
            | CommitError::KeyInUse { .. }
            | CommitError::Exists(_)
            | CommitError::Corrupt(_) => Self::Internal(error.to_string()),
        }
    }
}

/// Converts errors that only a bug or a damaged store can cause.
macro_rules! internal {
    ($($error:ident)+) => {
        $(impl From<$error> for StoreError {
            fn from(error: $error) -> Self {
                Self::Internal(error.to_string())
            }
        })+
    };
}
internal! { EncryptError ChargeError PayoutError DepositError WithdrawalError InfractionError }

/// Commits the change. Returns `false` if a record has changed since it was read.
pub(crate) async fn commit_unless_stale(ports: &Ports, change: ChangeSet) -> Result<bool, StoreError> {
    match ports.store.commit(change).await {
        Ok(_) => Ok(true),
        Err(CommitError::Stale) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
