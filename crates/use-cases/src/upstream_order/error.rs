//! The reasons for which no resource is created, for all resources with an idempotency key.

use cais_domain::merchant::account::NotPermitted;

use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::KeyInUse;
use crate::store_error::{RETRY_AFTER_S, StoreError};

/// The reason for which no resource was created. `R` are the refusals of the operation itself.
///
/// A balance below the needed amount is not an error but a response, stored for repeats.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError<R> {
    /// The account is not permitted to create it.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The key belongs to another request.
    #[error("the idempotency key was used for another request")]
    KeyConflict,
    /// The first request with the key is still being executed.
    #[error("the first request with this key is still being processed")]
    KeyInProgress {
        /// Seconds until a repeat is useful.
        retry_after_s: u32,
    },
    /// The operation's own rules refuse the request.
    #[error(transparent)]
    Refused(R),
    /// The external id belongs to a resource with other data.
    #[error(transparent)]
    ExternalIdConflict(#[from] ExternalIdConflict),
    /// A resource with the external id is being created.
    #[error("the creation with this external id is still in progress")]
    ExternalIdInProgress {
        /// Seconds until a look-up is useful.
        retry_after_s: u32,
    },
    /// No acquirer accepted the order. Held money was released, and no resource is visible.
    #[error("no acquirer accepted the order")]
    AcquirerUnavailable,
    /// The outcome is unknown; a repeat with the same key resumes the creation.
    #[error("the service is temporarily unavailable")]
    Unavailable {
        /// Seconds until a repeat is useful.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

/// The place of an error in the order of checks, relative to the external id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precedence {
    /// The owner of the external id is not looked up.
    First,
    /// An owner with the same data is the response; a conflict of external ids comes after this error.
    BeforeConflict,
    /// An owner with the same data is the response; a conflict of external ids comes before this error.
    AfterConflict,
}

/// A refusal of one operation.
pub(crate) trait Refusal: std::error::Error + Send {
    /// Returns the place in the order of checks.
    fn precedence(&self) -> Precedence;
}

/// Returns the place of an error in the order of checks.
pub(super) fn precedence<R: Refusal>(error: &CreateError<R>) -> Precedence {
    match error {
        CreateError::NotPermitted(_) => Precedence::First,
        CreateError::Refused(refusal) => refusal.precedence(),
        CreateError::AcquirerUnavailable => Precedence::AfterConflict,
        CreateError::KeyConflict
        | CreateError::KeyInProgress { .. }
        | CreateError::ExternalIdConflict(_)
        | CreateError::ExternalIdInProgress { .. }
        | CreateError::Unavailable { .. }
        | CreateError::Internal(_) => Precedence::BeforeConflict,
    }
}

impl<R> From<StoreError> for CreateError<R> {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(reason) => {
                tracing::warn!(
                    reason,
                    "store unavailable; nothing is created, or a repeat of the request resumes the creation"
                );
                Self::Unavailable { retry_after_s: RETRY_AFTER_S }
            }
            StoreError::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl<R> From<KeyInUse> for CreateError<R> {
    fn from(error: KeyInUse) -> Self {
        match error {
            KeyInUse::Conflict => Self::KeyConflict,
            KeyInUse::InProgress { retry_after_s } => Self::KeyInProgress { retry_after_s },
        }
    }
}
