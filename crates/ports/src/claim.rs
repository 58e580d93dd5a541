//! Idempotency: who first used a key, for what, and what was answered.

use std::fmt;

use cais_domain::idempotency_key::IdempotencyKey;
use cais_domain::ids::{AccountId, RequestId};
use jiff::Timestamp;

/// SHA-256 of method, path and canonical body.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Fingerprint(..)")
    }
}

/// Names a claim: keys are unique within an account.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClaimRef {
    /// Whose key it is.
    pub account: AccountId,
    /// The key.
    pub key: IdempotencyKey,
}

/// An answer that is given again byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The request that was answered.
    pub request: RequestId,
    /// The body.
    pub body: Vec<u8>,
}

/// A claim as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub name: ClaimRef,
    /// What was asked for.
    pub fingerprint: Fingerprint,
    /// The public id of what is being made, so that a repeat resumes it.
    pub resource: String,
    /// Who executes it: grows with each takeover, and only its holder may answer.
    pub fence: i64,
    /// Until when its holder may be at work.
    pub lease_until: Timestamp,
    /// When a worker should take it over; `None` when it is answered or waits for the caller.
    pub due_at: Option<Timestamp>,
    /// What was answered, once it was.
    pub answer: Option<StoredAnswer>,
    /// When the key was first used.
    pub created_at: Timestamp,
}

/// The first use of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewClaim {
    /// Its name.
    pub name: ClaimRef,
    /// What is asked for.
    pub fingerprint: Fingerprint,
    /// The public id of what will be made.
    pub resource: String,
    /// Until when the caller may be at work; a worker takes over after it.
    pub lease_until: Timestamp,
    /// The answer, when it is known at once.
    pub answer: Option<StoredAnswer>,
}

/// What a change set does to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimChange {
    /// Take a key that nobody used; refused with `Claimed` when somebody did. Starts with fence 1.
    Take(NewClaim),
    /// Take over one that is not answered and stands at `fence`; it stands at `fence + 1` afterwards.
    Retake {
        /// Which.
        name: ClaimRef,
        /// As it was read.
        fence: i64,
        /// Until when the new holder may be at work; a worker takes over after it.
        lease_until: Timestamp,
    },
    /// Answer it; refused with `Claimed` unless it is unanswered and stands at `fence`.
    Answer {
        /// Which.
        name: ClaimRef,
        /// As its holder has it.
        fence: i64,
        /// What is answered from now on.
        answer: StoredAnswer,
    },
    /// Give it back unanswered, so that a repeat resumes it at once; same refusals as `Answer`.
    Release {
        /// Which.
        name: ClaimRef,
        /// As its holder has it.
        fence: i64,
        /// When a worker should resume it; `None` when only the caller may.
        due_at: Option<Timestamp>,
    },
}

impl ClaimChange {
    /// Which claim it is about.
    #[must_use]
    pub const fn name(&self) -> &ClaimRef {
        match self {
            Self::Take(claim) => &claim.name,
            Self::Retake { name, .. } | Self::Answer { name, .. } | Self::Release { name, .. } => name,
        }
    }
}
