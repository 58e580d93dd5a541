//! Processes a callback again at the request of an operator.

use cais_domain::ids::CallbackId;
use cais_ports::{Actor, Callback, CallbackState, ChangeSet, CommitError, Page, PageRequest, QueryError, Write};

use crate::audit::{self, AuditedChange, Fields};
use crate::ports::Ports;

/// The reason why a callback is not processed again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetryError {
    /// No callback has this id.
    #[error("the callback {0} does not exist")]
    NotFound(CallbackId),
    /// The callback is done: its items were applied, or it was unmatched and not kept for an operator.
    #[error("the callback {0} is already done")]
    Done(CallbackId),
    /// The store could not be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store could not be changed.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// Returns a page of the unmatched callbacks. The newest come first.
///
/// # Errors
/// [`QueryError`] if the store fails.
pub async fn list_unmatched(ports: &Ports, page: PageRequest<CallbackId>) -> Result<Page<Callback>, QueryError> {
    ports.queries.list_unmatched_callbacks(page).await
}

/// Makes the callback due again, and sets the number of its attempts to zero.
///
/// # Errors
/// [`RetryError`].
pub async fn retry(ports: &Ports, operator: &Actor, id: CallbackId) -> Result<Callback, RetryError> {
    let callback = ports.queries.find_callback(id).await?.ok_or(RetryError::NotFound(id))?;
    if callback.state == CallbackState::Done {
        return Err(RetryError::Done(id));
    }
    let now = ports.clock.now();
    let again = Callback { state: CallbackState::Waiting, attempts: 0, due_at: Some(now), ..callback.clone() };
    let mut change = ChangeSet::new(now);
    let audited = AuditedChange {
        action: "callback.retry",
        subject: id.to_string(),
        account: None,
        before: Some(record(&callback)),
        after: Some(record(&again)),
    };
    change.writes.push(audit::record(ports, operator, now, audited));
    change.writes.push(Write::update(again.clone()));
    ports.store.commit(change).await?;
    Ok(again)
}

/// Returns the fields that the retry changes, as JSON.
fn record(callback: &Callback) -> Vec<u8> {
    Fields::new().text("status", callback.state.as_str()).number("attempts", callback.attempts).into_json()
}

/// Returns the identifiers in a callback as text, one line for each item.
#[must_use]
pub fn named(callback: &Callback) -> String {
    String::from_utf8_lossy(&callback.body).into_owned()
}
