//! Keeping a callback, so that upstream can be answered at once and nothing is lost.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::NoticeId;
use cais_ports::{ChangeSet, CommitError, Notice, NoticeState, Write};

use crate::ports::Ports;

/// Keeps the callback; a worker reads the truth.
///
/// # Errors
/// [`CommitError`] when it could not be kept: upstream should call again.
pub async fn receive(ports: &Ports, acquirer: &AcquirerName, body: Vec<u8>) -> Result<(), CommitError> {
    let now = ports.clock.now();
    let notice = Notice {
        id: NoticeId::new(ports.ids.next_uuid()),
        acquirer: acquirer.clone(),
        body,
        received_at: now,
        state: NoticeState::Waiting,
        attempts: 0,
        due_at: Some(now),
        version: 0,
    };
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::InsertNotice(Box::new(notice)));
    ports.store.commit(change).await.map(|_| ())
}
