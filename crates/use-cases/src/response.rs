//! A response as it is sent, and as it is stored for repeats.

use cais_domain::ids::RequestId;
use cais_ports::StoredResponse;

/// The status of a response with a created resource.
pub(crate) const CREATED: u16 = 201;
/// The status of a response with an existing resource.
pub(crate) const SHOWN: u16 = 200;
/// The status of a response to a request that exceeds the balance.
pub(crate) const NOT_COVERED: u16 = 422;

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: Vec<u8>,
    /// The first request, if this response repeats its response byte for byte.
    pub replay_of: Option<RequestId>,
}

impl Response {
    /// Returns a new response.
    #[must_use]
    pub const fn fresh(status: u16, body: Vec<u8>) -> Self {
        Self { status, body, replay_of: None }
    }

    /// Returns a stored response as a replay.
    #[must_use]
    pub fn replayed(stored: StoredResponse) -> Self {
        Self { status: stored.status, body: stored.body, replay_of: Some(stored.request) }
    }
}
