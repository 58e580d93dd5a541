//! Reading the truth behind a callback once more, because an operator asks for it.

use cais_domain::ids::NoticeId;
use cais_ports::{ChangeSet, CommitError, Notice, NoticeState, Page, PageRequest, QueryError, Write};

use crate::ports::Ports;

/// Why a callback is not read once more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RetryError {
    /// No callback has the id.
    #[error("there is no callback {0}")]
    NotFound(NoticeId),
    /// Everything that it names is credited.
    #[error("the callback {0} is done")]
    Done(NoticeId),
    /// The store has no answer.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store was not changed.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// The callbacks that could not be matched, newest first.
///
/// # Errors
/// [`QueryError`] when the store has no answer.
pub async fn list_unmatched(ports: &Ports, page: PageRequest<NoticeId>) -> Result<Page<Notice>, QueryError> {
    ports.queries.list_unmatched_notices(page).await
}

/// Puts the callback before the worker again, with all its attempts.
///
/// # Errors
/// [`RetryError`].
pub async fn retry(ports: &Ports, id: NoticeId) -> Result<Notice, RetryError> {
    let notice = ports.queries.find_notice(id).await?.ok_or(RetryError::NotFound(id))?;
    if notice.state == NoticeState::Done {
        return Err(RetryError::Done(id));
    }
    let now = ports.clock.now();
    let again = Notice { state: NoticeState::Waiting, attempts: 0, due_at: Some(now), ..notice };
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::UpdateNotice(Box::new(again.clone())));
    ports.store.commit(change).await?;
    Ok(again)
}

/// What a callback named, as text: one line for each.
#[must_use]
pub fn named(notice: &Notice) -> String {
    String::from_utf8_lossy(&notice.body).into_owned()
}
