//! Processes a callback again at the request of an operator.

use cais_domain::ids::NoticeId;
use cais_ports::{ChangeSet, CommitError, Notice, NoticeState, Operator, Page, PageRequest, QueryError, Write};

use crate::audit::{self, AuditedChange};
use crate::ports::Ports;

/// The reason for which a callback is not processed again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetryError {
    /// No callback has the id.
    #[error("there is no callback {0}")]
    NotFound(NoticeId),
    /// All items of the callback are applied.
    #[error("the callback {0} is done")]
    Done(NoticeId),
    /// The store could not be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store was not changed.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// Returns the unmatched callbacks, newest first.
///
/// # Errors
/// [`QueryError`] if the store fails.
pub async fn list_unmatched(ports: &Ports, page: PageRequest<NoticeId>) -> Result<Page<Notice>, QueryError> {
    ports.queries.list_unmatched_notices(page).await
}

/// Makes the callback due again, with all its attempts.
///
/// # Errors
/// [`RetryError`].
pub async fn retry(ports: &Ports, operator: &Operator, id: NoticeId) -> Result<Notice, RetryError> {
    let notice = ports.queries.find_notice(id).await?.ok_or(RetryError::NotFound(id))?;
    if notice.state == NoticeState::Done {
        return Err(RetryError::Done(id));
    }
    let now = ports.clock.now();
    let again = Notice { state: NoticeState::Waiting, attempts: 0, due_at: Some(now), ..notice.clone() };
    let mut change = ChangeSet::new(now);
    let audited = AuditedChange {
        action: "callback.retry",
        subject: id.to_string(),
        account: None,
        before: Some(record(&notice)),
        after: Some(record(&again)),
    };
    change.writes.push(audit::record(ports, operator, now, audited));
    change.writes.push(Write::UpdateNotice(Box::new(again.clone())));
    ports.store.commit(change).await?;
    Ok(again)
}

/// Returns the fields of a callback that an operator changes, as JSON.
fn record(notice: &Notice) -> Vec<u8> {
    format!(r#"{{"status":"{}","attempts":{}}}"#, notice.state.as_str(), notice.attempts).into_bytes()
}

/// Returns the names in a callback as text, one line for each.
#[must_use]
pub fn named(notice: &Notice) -> String {
    String::from_utf8_lossy(&notice.body).into_owned()
}
