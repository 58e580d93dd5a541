//! Keeping the names in a callback, so that the acquirer is answered at once and nothing is lost.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::NoticeId;
use cais_ports::{ChangeSet, CommitError, Notice, NoticeState, Noticed, QueryError, Write};

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
    /// The acquirer has too many open callbacks and should call again later.
    #[error("the acquirer has too many open callbacks")]
    Full,
    /// The store has no answer: the acquirer should call again.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The store did not take it: the acquirer should call again.
    #[error(transparent)]
    Store(#[from] CommitError),
}

/// Keeps what the callback names; a worker reads the truth. A callback that names nothing is not kept. A repeat is not kept either: it
/// makes the callback due that is there.
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
    if ports.open_callbacks.is_full(acquirer) {
        return Err(ReceiveError::Full);
    }
    // Each notice can be read to its end in one pass, so that each pass ends some.
    let (infractions, pix): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| matches!(item, Noticed::Infraction(_)));
    let texts = [names::write(&pix, CHARGES_PER_PASS), names::write(&infractions, INFRACTIONS_PER_PASS)].concat();
    let mut writes = Vec::new();
    for names in &texts {
        let open = ports.queries.find_named_notice(acquirer, names).await?;
        writes.push(open.map_or_else(|| insert(ports, acquirer, names), |open| repeat(ports, open)));
    }
    match commit(ports, writes).await {
        // A worker has just looked into one of them, perhaps before what this callback is about. New ones are looked into after it.
        Err(CommitError::Stale) => {
            commit(ports, texts.iter().map(|names| insert(ports, acquirer, names)).collect()).await?;
        }
        done => done?,
    }
    Ok(())
}

fn insert(ports: &Ports, acquirer: &AcquirerName, names: &[u8]) -> Write {
    let now = ports.clock.now();
    Write::InsertNotice(Box::new(Notice {
        id: NoticeId::new(ports.ids.next_uuid()),
        acquirer: acquirer.clone(),
        body: names.to_vec(),
        received_at: now,
        state: NoticeState::Waiting,
        attempts: 0,
        due_at: Some(now),
        version: 0,
    }))
}

/// Makes an open or unmatched notice due. Its version grows even if it is due already, so that a worker which read the truth before
/// the repeat cannot mark it as done.
fn repeat(ports: &Ports, open: Notice) -> Write {
    // An unmatched one has all its attempts again. An open one keeps their number, so that repeats cannot keep it open for ever.
    let attempts = if open.state == NoticeState::Waiting { open.attempts } else { 0 };
    Write::UpdateNotice(Box::new(Notice {
        state: NoticeState::Waiting,
        attempts,
        due_at: Some(ports.clock.now()),
        ..open
    }))
}

async fn commit(ports: &Ports, writes: Vec<Write>) -> Result<(), CommitError> {
    let change = ChangeSet { writes, ..ChangeSet::new(ports.clock.now()) };
    ports.store.commit(change).await.map(drop)
}
