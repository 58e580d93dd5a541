//! The write side: one port, one method.

use async_trait::async_trait;
use cais_domain::ledger::LedgerAccount;
use cais_domain::money::Money;

use crate::change_set::{ChangeSet, ReservationKey};
use crate::claim::Claim;

/// What the store decided while it committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// The sequence numbers of the change set's events, in order.
    pub sequences: Vec<i64>,
}

/// Why a change set did not become true, or is not known to have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A record was changed since it was read: read again, decide again.
    #[error("a record was changed since it was read")]
    Stale,
    /// A transfer that must be covered is not.
    #[error("the balance of {account} does not cover the transfer")]
    NotCovered {
        /// The account that was to be debited.
        account: LedgerAccount,
        /// The balance of that account before the change set, by which the store decided.
        available: Money,
    },
    /// A unique value has another owner.
    #[error("{} is taken", .key.space())]
    Taken {
        /// The value.
        key: ReservationKey,
        /// The public id of its owner.
        by: String,
    },
    /// The idempotency claim is another's: it exists (`Take`), or does not stand as it was read.
    #[error("the idempotency key is in use")]
    Claimed {
        /// The claim as it stands.
        claim: Box<Claim>,
    },
    /// The store did not answer in time or cannot be reached. It may have become true.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The store refused what should have been right: a bug or a damaged store. It did not become true.
    #[error("the store refused the change: {0}")]
    Corrupt(String),
}

/// The write side of the store.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Store: Send + Sync {
    /// All of `change` becomes durable, or none of it.
    ///
    /// Checks in this order: the claim, the reservations in order, the versions in order, cover in the order of transfers, what ending
    /// blocks hold.
    ///
    /// # Errors
    /// [`CommitError`]; after any but `Unavailable` nothing of it became true.
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError>;
}
