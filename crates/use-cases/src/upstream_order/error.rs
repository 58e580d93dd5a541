//! The errors of the creation of a resource under an idempotency key.

use cais_domain::merchant::account::NotPermitted;

use crate::external_id_conflict::ExternalIdConflict;
use crate::idempotency::KeyInUse;
use crate::store_error::{RETRY_AFTER_S, StoreError};

/// The reason why no resource was created. `R` is the type of the operation's own refusals.
///
/// An insufficient balance is not an error: its response is stored for repeats.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreateError<R> {
    /// The account is not permitted to create the resource.
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
    /// A rule of the operation refuses the request.
    #[error(transparent)]
    Refused(R),
    /// The external id belongs to a resource with other data.
    #[error(transparent)]
    ExternalIdConflict(#[from] ExternalIdConflict),
    /// A resource with the external id is being created.
    #[error("the creation with this external id is still in progress")]
    ExternalIdInProgress {
        /// Seconds until the caller should look up the resource.
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

/// The position of an error in the order of checks, relative to the checks of the external id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precedence {
    /// The error comes before all checks of the external id.
    First,
    /// If the owner of the external id has the data of the request, the response shows the owner. If the data differ,
    /// this error comes before the conflict.
    BeforeConflict,
    /// If the owner of the external id has the data of the request, the response shows the owner. If the data differ,
    /// the conflict comes before this error.
    AfterConflict,
}

/// A refusal by the rules of one operation, for example of refunds.
pub(crate) trait Refusal: std::error::Error + Send {
    /// Returns the position of the refusal in the order of checks.
    fn precedence(&self) -> Precedence;
}

/// Returns the position of the error in the order of checks.
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
