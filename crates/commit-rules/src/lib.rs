//! The rules of a commit, without a database.
//!
//! [`judge`] alone decides whether a [`ChangeSet`] is accepted. The function reads a [`Snapshot`] of the store, and returns either the
//! refusal or the [`Effects`]: ledger entries, balances, blocks, numbered events and deliveries. The change set itself carries everything
//! else that is written. A store has three tasks left:
//!
//! 1. Load a snapshot that holds at least the keys of the change set and the rows that [`LedgerNeeds`] names. Protect these rows from other
//!    writers.
//! 2. Judge change sets in order against that one snapshot.
//! 3. Write each accepted change set together with its effects, in one transaction.
//!
//! Change sets are judged in this order: idempotency record, reservations, versions, cover in the order of transfers, and the amounts that
//! ending blocks hold. The decision borrows the snapshot immutably, so a refused change set leaves no trace in it.
//!
//! A store that expects no conflict may judge without reading the keys first: [`Mode::Optimistic`]. Its statements must then check the keys
//! as [`Mode::Pessimistic`] does here. The keys are the fence of an idempotency record, the owner of a unique value, and the version in
//! [`Write::read`].

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

/// Judges a change set. If it is accepted, the snapshot holds its outcome afterwards, for the change sets that follow.
///
/// # Errors
/// The refusal of the first check that fails; the snapshot is unchanged. [`CommitError::Corrupt`] if a transfer moves no positive amount, if
/// an inserted record exists, or if a ledger row is missing in the snapshot.
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
