//! The rules of a commit, without a database.
//!
//! [`judge`] alone decides whether a [`ChangeSet`] is accepted. The function reads a [`Snapshot`] of the store, and
//! returns either the refusal or the [`Effects`]. Effects are ledger entries, balances, blocks, numbered events and
//! deliveries. All other written data is in the change set itself. A store has three tasks:
//!
//! 1. Load a snapshot that holds at least the rows that [`LedgerNeeds`] names and the keys of the change set: its
//!    idempotency record, unique values and record versions. Protect these rows from other writers.
//! 2. Judge change sets in order against that one snapshot.
//! 3. Write each accepted change set together with its effects, in one transaction.
//!
//! A change set is checked in this order: idempotency record, reservations, versions, the debited balance of each
//! transfer, and the amounts that ending blocks hold. The checks borrow the snapshot immutably, so a refused change set
//! does not change the snapshot.
//!
//! A store that expects no conflict may judge without reading the keys first: [`Mode::Optimistic`]. The statements that
//! write must then make the checks that [`Mode::Pessimistic`] makes here. These checks concern the fence of an
//! idempotency record, the owner of a unique value, and the version in [`Write::read`].

mod effects;
mod events;
mod keys;
mod needs;
mod postings;
mod snapshot;

pub use effects::{BlockWrite, Effects, Entry, NumberedEvent, Side};
pub use keys::KeySnapshot;
pub use needs::LedgerNeeds;
pub use snapshot::{Balance, Blocks, Endpoints, LedgerSnapshot, Mode, Snapshot};

#[cfg(doc)]
use cais_ports::Write;
use cais_ports::{ChangeSet, CommitError, IdGenerator};

use postings::Postings;

/// Judges a change set. If the change set is accepted, the snapshot is updated with its effects, for the change sets
/// that follow.
///
/// # Errors
/// The refusal of the first check that fails; the snapshot is unchanged. [`CommitError::Exists`] if an inserted record
/// already exists. [`CommitError::Corrupt`] for impossible data, such as a transfer of zero, or a ledger row that is
/// missing in the snapshot.
pub fn judge<'a>(
    snapshot: &mut Snapshot,
    change: &'a ChangeSet,
    ids: &dyn IdGenerator,
) -> Result<Effects<'a>, CommitError> {
    let effects = decide(snapshot, change, ids)?;
    snapshot.apply(change, &effects);
    Ok(effects)
}

fn decide<'a>(snapshot: &Snapshot, change: &'a ChangeSet, ids: &dyn IdGenerator) -> Result<Effects<'a>, CommitError> {
    if snapshot.mode == Mode::Pessimistic {
        snapshot.keys.check(change)?;
    }
    let mut effects = Postings::simulate(&snapshot.ledger, change, ids)?;
    events::number(&snapshot.ledger, change, ids, &mut effects)?;
    Ok(effects)
}
