//! Why nothing was done with an endpoint, a delivery or an event that was named.

use cais_domain::account::NotPermitted;
use cais_domain::webhook::MAX_WAITING_REQUESTS;

use crate::trouble::Trouble;

/// Why an endpoint was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteEndpointError {
    /// The account may not write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint of that id.
    #[error("there is no such webhook endpoint")]
    NotFound,
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// Why nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendAgainError {
    /// The account may not write.
    #[error(transparent)]
    NotPermitted(#[from] NotPermitted),
    /// The account has no endpoint, delivery or event of that id.
    #[error("there is no such webhook endpoint, delivery or event")]
    NotFound,
    /// The endpoint is not called; with its state: `inactive` or `disabled`.
    #[error("the webhook endpoint is {0}")]
    NotActive(&'static str),
    /// The delivery was cancelled, and stays so.
    #[error("the delivery is cancelled")]
    Cancelled,
    /// Too many tests and resends of an endpoint wait.
    #[error("at most {MAX_WAITING_REQUESTS} tests and resends of a webhook endpoint wait at a time")]
    TooMany,
    /// No active endpoint has the event, or wants its type.
    #[error("no active webhook endpoint receives this event")]
    NoReceiver,
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}
