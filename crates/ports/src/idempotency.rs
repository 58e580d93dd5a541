//! Idempotency records: the first use of a key, its request, and the stored response.

use std::fmt;

use cais_domain::ids::{AccountId, RequestId};
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use jiff::Timestamp;

/// The SHA-256 hash of the method, the path and the canonical body of a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Fingerprint(..)")
    }
}

/// The identifier of an idempotency record. Keys are unique within an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyRef {
    /// The account of the key.
    pub account: AccountId,
    /// The key.
    pub key: IdempotencyKey,
}

cais_domain::named! {
    /// The kind of the response to a request with a key.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ResponseKind {
        /// The resource that the request created.
        Created = "created",
        /// The existing resource that has the external id of the request.
        Existing = "existing",
        /// The error for a balance below the needed amount. No resource was created.
        InsufficientBalance = "insufficient_balance",
    }
}

/// A response that is repeated byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    /// The kind of the response.
    pub kind: ResponseKind,
    /// The id of the request that received the response first.
    pub request: RequestId,
    /// The body of the response.
    pub body: Vec<u8>,
}

/// A stored idempotency record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The identifier of the record.
    pub name: IdempotencyRef,
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The public id of the resource. While the resource is in creation, a repeat resumes the creation by this id.
    pub resource: String,
    /// The number of the current lease. Each takeover increases the number. Only the holder of the current lease may
    /// store the response.
    pub fence: i64,
    /// The end of the holder's lease.
    pub lease_until: Timestamp,
    /// The instant at which a worker should take over. `None` if the record has a response or waits for a repeat by the
    /// caller.
    pub due_at: Option<Timestamp>,
    /// The response, if it is stored.
    pub answer: Option<StoredResponse>,
    /// The instant of the first use of the key.
    pub created_at: Timestamp,
}

/// The first use of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdempotencyRecord {
    /// The identifier of the record.
    pub name: IdempotencyRef,
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The public id of the resource that will be created.
    pub resource: String,
    /// The end of the caller's lease. Afterwards a worker takes over.
    pub lease_until: Timestamp,
    /// The response, if the first commit already decides it.
    pub answer: Option<StoredResponse>,
}

/// A change of an idempotency record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotencyChange {
    /// Inserts the record of a new key with fence 1. If the key has a record, the commit fails with `KeyInUse`.
    Take(NewIdempotencyRecord),
    /// Takes over the record for a new holder. The fence increases by one. If the record has a response, or its fence
    /// is not `fence`, the commit fails with `KeyInUse`.
    Retake {
        /// The identifier of the record.
        name: IdempotencyRef,
        /// The fence that was read.
        fence: i64,
        /// The end of the new holder's lease. Afterwards a worker takes over.
        lease_until: Timestamp,
    },
    /// Stores the response. If the record has a response, or its fence is not `fence`, the commit fails with
    /// `KeyInUse`.
    Answer {
        /// The identifier of the record.
        name: IdempotencyRef,
        /// The holder's fence.
        fence: i64,
        /// The response to store.
        answer: StoredResponse,
    },
    /// Ends the lease without a response, so that a repeat can resume the creation at once. The commit fails under the
    /// same conditions as for [`Self::Answer`].
    Release {
        /// The identifier of the record.
        name: IdempotencyRef,
        /// The holder's fence.
        fence: i64,
        /// The instant at which a worker should resume the creation. `None` if only the caller may resume it.
        due_at: Option<Timestamp>,
    },
}

impl IdempotencyChange {
    /// Returns the identifier of the record.
    #[must_use]
    pub const fn name(&self) -> &IdempotencyRef {
        match self {
            Self::Take(record) => &record.name,
            Self::Retake { name, .. } | Self::Answer { name, .. } | Self::Release { name, .. } => name,
        }
    }
}
