//! Keeping the names in a callback, so that the acquirer is answered at once and nothing is lost.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::NoticeId;
use cais_ports::{ChangeSet, CommitError, Notice, NoticeState, Noticed, Write};

use super::names;
use super::process::{CHARGES_PER_PASS, INFRACTIONS_PER_PASS};
use crate::ports::Ports;

/// Why a callback was not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The body is no callback of the acquirer's interface.
    #[error("{0}")]
    Malformed(String),
    /// The acquirer is not configured.
    #[error("the acquirer is not configured")]
    NotConfigured,
    /// The store did not take it: the acquirer should call again.
    #[error(transparent)]
    Store(#[from] CommitError),
}

/// Keeps what the callback names; a worker reads the truth. A callback that names nothing is not kept.
///
/// # Errors
/// [`ReceiveError`]; nothing of the callback is kept then.
pub async fn receive(ports: &Ports, acquirer: &AcquirerName, body: impl AsRef<[u8]>) -> Result<(), ReceiveError> {
    let adapter = ports.acquirers.named(acquirer).ok_or(ReceiveError::NotConfigured)?;
    let items = adapter.notices(body.as_ref()).map_err(|error| ReceiveError::Malformed(error.to_string()))?;
    drop(body);
    if items.is_empty() {
        return Ok(());
    }
    let now = ports.clock.now();
    let notice = |items| Notice {
        id: NoticeId::new(ports.ids.next_uuid()),
        acquirer: acquirer.clone(),
        body: names::write(items),
        received_at: now,
        state: NoticeState::Waiting,
        attempts: 0,
        due_at: Some(now),
        version: 0,
    };
    let mut change = ChangeSet::new(now);
    // Each notice can be read to its end in one pass, so that each pass ends some.
    let (infractions, pix): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| matches!(item, Noticed::Infraction(_)));
    let parts = pix.chunks(CHARGES_PER_PASS).chain(infractions.chunks(INFRACTIONS_PER_PASS));
    change.writes.extend(parts.map(|items| Write::InsertNotice(Box::new(notice(items)))));
    ports.store.commit(change).await?;
    Ok(())
}
