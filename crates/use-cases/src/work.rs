//! A bounded pass of a worker, and its result.

use cais_ports::{CommitError, QueryError};
use jiff::SignedDuration;

use crate::crypto::CryptoUnavailable;
use crate::store_error::StoreError;

/// The largest number of items in one pass. The next pass continues.
pub const PASS_LIMIT: u32 = 256;
/// The number of items that wait for acquirers at the same time.
pub const AT_ONCE: usize = 16;
/// The number of changes of one worker that wait for the store at the same time. The store commits them together.
pub(crate) const COMMITS_AT_ONCE: usize = 512;
/// The age at which an order that the acquirer does not have is sent again under the same id. By then no earlier
/// request can be in transit.
pub(crate) const RESEND_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// The time after its decision in which a worker may still send. Another worker decides much later.
pub(crate) const SEND_WITHIN: SignedDuration = SignedDuration::from_secs(30);
/// The age at which an order that is missing from the acquirer's complete answer raises an alert. By then the pauses
/// between two polls are minutes.
pub(crate) const UNPROVEN_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// The result of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pass {
    /// The number of finished items.
    pub done: usize,
    /// `true` if more items wait and an immediate next pass is useful.
    pub more: bool,
}

impl Pass {
    /// Returns the result of a pass that listed `listed` items and finished `done`.
    #[must_use]
    pub fn of(listed: usize, done: usize) -> Self {
        Self::of_limit(PASS_LIMIT, listed, done)
    }

    /// Does the same as [`Pass::of`] for a pass with at most `limit` items.
    #[must_use]
    pub fn of_limit(limit: u32, listed: usize, done: usize) -> Self {
        let full = u32::try_from(listed).is_ok_and(|listed| listed >= limit);
        Self { done, more: full && done > 0 }
    }
}

/// The reason for which a pass failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The items could not be listed.
    #[error("the work could not be listed")]
    Query(#[from] QueryError),
    /// The store could not be changed.
    #[error("the store could not be changed")]
    Commit(#[from] CommitError),
    /// The store failed during the pass.
    #[error("the work could not be finished")]
    StoreError(#[from] StoreError),
    /// The balances or prices of coins could not be read.
    #[error("the coins could not be read or priced")]
    Coins(#[from] CryptoUnavailable),
}
