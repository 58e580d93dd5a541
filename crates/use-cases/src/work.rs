//! The limits and the result of a worker's pass.

use cais_ports::{CommitError, QueryError};
use jiff::SignedDuration;

use crate::crypto::CryptoUnavailable;
use crate::store_error::StoreError;

/// The largest number of items in one pass. The next pass handles further items.
pub const PASS_LIMIT: u32 = 256;
/// The largest number of items that a pass handles concurrently.
pub const AT_ONCE: usize = 16;
/// The largest number of items that a pass over callbacks handles concurrently. The number is high, so that the store
/// can put many commits into one batch.
pub(crate) const COMMITS_AT_ONCE: usize = 512;
/// The longest time that a request to create an order can be in transit. If the acquirer does not have the order after
/// this time, the order is sent again with the same identifier.
pub(crate) const RESEND_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// The age from which an open order raises an alert if a poll reaches the acquirer but proves no outcome. For a crypto
/// deposit, the age counts from its expiry. A younger order raises no alert, because the acquirer may show it later.
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
    /// Returns the result of a pass that listed `listed` items and finished `done`. Sets [`Pass::more`] if the list was
    /// full and at least one item was finished.
    #[must_use]
    pub fn of(listed: usize, done: usize) -> Self {
        Self::of_limit(PASS_LIMIT, listed, done)
    }

    /// Works like [`Pass::of`], with `limit` instead of [`PASS_LIMIT`].
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
    /// A change set could not be committed.
    #[error("the store could not be changed")]
    Commit(#[from] CommitError),
    /// The store failed after the items were listed.
    #[error("the work could not be finished")]
    StoreError(#[from] StoreError),
    /// The balances or prices of coins could not be read.
    #[error("the coins could not be read or priced")]
    Coins(#[from] CryptoUnavailable),
}
