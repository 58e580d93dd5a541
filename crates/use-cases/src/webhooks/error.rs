//! The reasons for which an operation on an endpoint, a delivery or an event failed.

use cais_domain::merchant::account::NotPermitted;
use cais_domain::merchant::webhook::MAX_WAITING_REQUESTS;

use crate::store_error::StoreError;

/// The reason for which an endpoint was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteEndpointError {
    /// The account is not permitted to write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint with this id.
    #[error("the webhook endpoint does not exist")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reason for which no delivery was queued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendAgainError {
    /// The account is not permitted to write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint, delivery or event with this id.
    #[error("the webhook endpoint, delivery or event does not exist")]
    NotFound,
    /// The endpoint is not active. Carries its state: `inactive` or `disabled`.
    #[error("the webhook endpoint is {0}")]
    NotActive(&'static str),
    /// The delivery was cancelled and stays cancelled.
    #[error("the delivery is cancelled")]
    Cancelled,
    /// The endpoint has too many waiting tests and resends.
    #[error("at most {MAX_WAITING_REQUESTS} tests and resends of a webhook endpoint wait at a time")]
    TooMany,
    /// No active endpoint had the event or subscribes to its type.
    #[error("no active webhook endpoint receives this event")]
    NoReceiver,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
