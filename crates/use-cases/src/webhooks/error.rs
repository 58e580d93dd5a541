//! The reasons why an operation on an endpoint, a delivery or an event fails.

use cais_domain::merchant::account::NotPermitted;
use cais_domain::merchant::webhook::MAX_WAITING_REQUESTS;

use crate::store_error::StoreError;

/// The reason why an endpoint was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteEndpointError {
    /// The account must not write, because an operator suspended it.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint with this id.
    #[error("the webhook endpoint does not exist")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reason why no test or resend was queued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendAgainError {
    /// The account must not write, because an operator suspended it.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint, delivery or event with this id.
    #[error("the webhook endpoint, delivery or event does not exist")]
    NotFound,
    /// The endpoint is not active. The value is its state: `inactive` or `disabled`.
    #[error("the webhook endpoint is {0}")]
    NotActive(&'static str),
    /// The delivery was cancelled, and cannot be sent again.
    #[error("the delivery is cancelled")]
    Cancelled,
    /// Too many tests and resends are waiting for the endpoint.
    #[error("at most {MAX_WAITING_REQUESTS} tests and resends of a webhook endpoint wait at a time")]
    TooMany,
    /// No active endpoint is a receiver of the resent event. [`super::resend_event()`] describes the receivers.
    #[error("no active webhook endpoint receives this event")]
    NoReceiver,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
