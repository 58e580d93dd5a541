//! Idempotency records: the first use of a key, the request, and the stored answer.

use std::fmt;

use cais_domain::ids::{AccountId, RequestId};
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use jiff::Timestamp;

/// SHA-256 of method, path and canonical body.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Fingerprint(..)")
    }
}

/// The name of an idempotency record: keys are unique within an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyRef {
    /// The account of the key.
    pub account: AccountId,
    /// The key.
    pub key: IdempotencyKey,
}

cais_domain::named! {
    /// The kind of an answer to a request with a key.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ResponseKind {
        /// The resource that the request created.
        Created = "created",
        /// The existing resource that has the external id of the request.
        Existing = "existing",
        /// The error that the balance is below the needed amount. No resource was created.
        InsufficientBalance = "insufficient_balance",
    }
}

/// An answer that is repeated byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    /// The kind.
    pub kind: ResponseKind,
    /// The id of the answered request.
    pub request: RequestId,
    /// The body.
    pub body: Vec<u8>,
}

/// A stored idempotency record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// Its name.
    pub name: IdempotencyRef,
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The public id of the resource that is being created, so that a repeat resumes the creation.
    pub resource: String,
    /// The number of the current holder. Each takeover increases the fence, and only the current holder may answer.
    pub fence: i64,
    /// The end of the holder's lease.
    pub lease_until: Timestamp,
    /// The instant at which a worker should take over; `None` if the record is answered or waits for its caller.
    pub due_at: Option<Timestamp>,
    /// The answer, once there is one.
    pub answer: Option<StoredResponse>,
    /// The instant of the first use of the key.
    pub created_at: Timestamp,
}

/// The first use of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdempotencyRecord {
    /// Its name.
    pub name: IdempotencyRef,
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
    /// The public id of the resource that will be created.
    pub resource: String,
    /// The end of the caller's lease; then a worker takes over.
    pub lease_until: Timestamp,
    /// The answer, if there is one at once.
    pub answer: Option<StoredResponse>,
}

/// A change of an idempotency record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotencyChange {
    /// Inserts the record of a new key with fence 1; refused with `KeyInUse` if the key has a record.
    Take(NewIdempotencyRecord),
    /// Takes over an unanswered record whose fence is `fence`, and increases the fence by one.
    Retake {
        /// The name of the record.
        name: IdempotencyRef,
        /// The fence that was read.
        fence: i64,
        /// The end of the new holder's lease; then a worker takes over.
        lease_until: Timestamp,
    },
    /// Stores the answer; refused with `KeyInUse` unless the record is unanswered and its fence is `fence`.
    Answer {
        /// The name of the record.
        name: IdempotencyRef,
        /// The holder's fence.
        fence: i64,
        /// The answer to store.
        answer: StoredResponse,
    },
    /// Releases the unanswered record, so that a repeat resumes it at once. Refused under the same conditions as `Answer`.
    Release {
        /// The name of the record.
        name: IdempotencyRef,
        /// The holder's fence.
        fence: i64,
        /// The instant at which a worker should resume the creation; `None` if only the caller may resume it.
        due_at: Option<Timestamp>,
    },
}

impl IdempotencyChange {
    /// Returns the name of the record.
    #[must_use]
    pub const fn name(&self) -> &IdempotencyRef {
        match self {
            Self::Take(record) => &record.name,
            Self::Retake { name, .. } | Self::Answer { name, .. } | Self::Release { name, .. } => name,
        }
    }
}
