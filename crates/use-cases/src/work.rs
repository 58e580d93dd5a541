//! A pass of a worker, with a limit, and its result.

use cais_ports::{CommitError, QueryError};
use jiff::SignedDuration;

use crate::crypto::CryptoUnavailable;
use crate::store_error::StoreError;

/// The largest number of items in one pass. The next pass handles the rest.
pub const PASS_LIMIT: u32 = 256;
/// The number of items that are handled at acquirers concurrently.
pub const AT_ONCE: usize = 16;
/// The number of changes of one worker that are committed concurrently. The store puts them into common batches.
pub(crate) const COMMITS_AT_ONCE: usize = 512;
/// If the last request of an order is this old and the acquirer does not have the order, the order is sent again with
/// the same identifier. By then no earlier request can be in transit.
pub(crate) const RESEND_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// If the acquirer's complete answer does not contain an order of this age, an alert is raised. By then the pauses
/// between polls are minutes long.
pub(crate) const UNPROVEN_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// The result of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pass {
    /// The number of finished items.
    pub done: usize,
    /// `true` if more items may wait, so that the next pass should follow at once.
    pub more: bool,
}

impl Pass {
    /// Returns the result of a pass that listed `listed` items and finished `done`.
    #[must_use]
    pub fn of(listed: usize, done: usize) -> Self {
        Self::of_limit(PASS_LIMIT, listed, done)
    }

    /// Works like [`Pass::of`], for a pass with at most `limit` items.
    #[must_use]
    pub fn of_limit(limit: u32, listed: usize, done: usize) -> Self {
        let full = u32::try_from(listed).is_ok_and(|listed| listed >= limit);
        Self { done, more: full && done > 0 }
    }
}

/// The reason why a pass failed.
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
