//! A response as the caller receives it, and as it is stored for repeats.

use cais_domain::ids::RequestId;
use cais_ports::{ResponseKind, StoredResponse};

/// A new response, or a stored response that is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The kind.
    pub kind: ResponseKind,
    /// The rendered resource or error.
    pub body: Vec<u8>,
    /// The id of the first request, if this response repeats the first response byte for byte.
    pub replay_of: Option<RequestId>,
}

impl Response {
    /// Returns a new response.
    #[must_use]
    pub const fn fresh(kind: ResponseKind, body: Vec<u8>) -> Self {
        Self { kind, body, replay_of: None }
    }

    /// Returns the form of the response that is stored for repeats of `request`.
    #[must_use]
    pub fn stored(&self, request: RequestId) -> StoredResponse {
        StoredResponse { kind: self.kind, request, body: self.body.clone() }
    }

    /// Returns a stored response as a replay.
    #[must_use]
    pub fn replayed(stored: StoredResponse) -> Self {
        Self { kind: stored.kind, body: stored.body, replay_of: Some(stored.request) }
    }
}
