//! An answer as it goes on the wire, and as it is kept for repeats.

use cais_domain::ids::RequestId;
use cais_ports::StoredAnswer;

/// The status of a response that shows what was created.
pub(crate) const CREATED: u16 = 201;
/// The status of a response that shows what existed before.
pub(crate) const SHOWN: u16 = 200;
/// The status of a response to a call that the balance does not cover.
pub(crate) const NOT_COVERED: u16 = 422;

/// What a caller gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: Vec<u8>,
    /// When this repeats an earlier answer, byte for byte: the request that was answered first.
    pub replay_of: Option<RequestId>,
}

impl Answer {
    /// An answer that is given for the first time.
    #[must_use]
    pub const fn fresh(status: u16, body: Vec<u8>) -> Self {
        Self { status, body, replay_of: None }
    }

    /// An answer that was given before.
    #[must_use]
    pub fn replayed(stored: StoredAnswer) -> Self {
        Self { status: stored.status, body: stored.body, replay_of: Some(stored.request) }
    }
}
