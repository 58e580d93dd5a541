//! One bounded pass of a worker, and what it says of itself.

use cais_ports::{CommitError, QueryError};
use jiff::SignedDuration;

use crate::trouble::Trouble;

/// How many pieces of work one pass takes; the next pass takes the next.
pub const PASS_LIMIT: u32 = 256;
/// How many of them wait for upstream at the same time.
pub const AT_ONCE: usize = 16;
/// Changes of one worker that wait for the store at the same time: the store commits them together.
pub(crate) const COMMITS_AT_ONCE: usize = 512;
/// How old an order must be that its acquirer does not know before it is sent once more, under the same name: by then no
/// request is on its way any more.
pub(crate) const RESEND_AFTER: SignedDuration = SignedDuration::from_secs(60);
/// How long after it decided so a worker still sends; long before another one may decide the same.
pub(crate) const SEND_WITHIN: SignedDuration = SignedDuration::from_secs(30);
/// How old an order must be that its acquirer answers for and does not show before an operator is alerted. The pauses between
/// two polls of it are minutes by then.
pub(crate) const UNPROVEN_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// What a pass did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pass {
    /// How many pieces of work it finished.
    pub done: usize,
    /// Whether there was more than it could take, and going on at once makes sense.
    pub more: bool,
}

impl Pass {
    /// A pass that was given `listed` pieces and finished `done`.
    #[must_use]
    pub fn of(listed: usize, done: usize) -> Self {
        Self::of_limit(PASS_LIMIT, listed, done)
    }

    /// The same for a pass that takes at most `limit`.
    #[must_use]
    pub fn of_limit(limit: u32, listed: usize, done: usize) -> Self {
        let full = u32::try_from(listed).is_ok_and(|listed| listed >= limit);
        Self { done, more: full && done > 0 }
    }
}

/// Why a pass could not begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// The work could not be listed.
    #[error("the work could not be listed")]
    Query(#[from] QueryError),
    /// The store could not be changed.
    #[error("the store could not be changed")]
    Commit(#[from] CommitError),
    /// The store gave up in the middle.
    #[error("the work could not be finished")]
    Trouble(#[from] Trouble),
}
