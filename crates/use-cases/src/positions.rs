//! Stores and moves the positions in acquirers' lists. A position is the instant up to which a list was read.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{ChangeSet, CommitError, PollPosition, UpstreamList, Write};
use jiff::Timestamp;

use crate::ports::Ports;
use crate::store_error::StoreError;

/// Stores the first position of a list. If another node has stored a position first, returns that position.
pub(crate) async fn first(
    ports: &Ports,
    acquirer: &AcquirerName,
    list: UpstreamList,
    seen_until: Timestamp,
) -> Result<PollPosition, StoreError> {
    let position = PollPosition { acquirer: acquirer.clone(), list, seen_until, version: 0 };
    match commit(ports, Write::insert(position.clone())).await {
        Ok(()) => Ok(PollPosition { version: 1, ..position }),
        Err(error @ CommitError::Exists(_)) => {
            let stored = ports.queries.find_position(acquirer, list).await?;
            stored.ok_or_else(|| error.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Moves a position. If another node has moved it first, returns the position of that node.
pub(crate) async fn move_to(
    ports: &Ports,
    position: PollPosition,
    seen_until: Timestamp,
) -> Result<PollPosition, StoreError> {
    let moved = PollPosition { seen_until, ..position.clone() };
    match commit(ports, Write::update(moved.clone())).await {
        Ok(()) => Ok(PollPosition { version: moved.version.saturating_add(1), ..moved }),
        Err(CommitError::Stale) => {
            let stored = ports.queries.find_position(&position.acquirer, position.list).await?;
            Ok(stored.unwrap_or(position))
        }
        Err(error) => Err(error.into()),
    }
}

async fn commit(ports: &Ports, write: Write) -> Result<(), CommitError> {
    let mut change = ChangeSet::new(ports.clock.now());
    change.writes.push(write);
    ports.store.commit(change).await.map(drop)
}
