//! The write side of the store: a trait with one method.

use async_trait::async_trait;
use cais_domain::ledger::LedgerAccount;
use cais_domain::money::Money;

use crate::change_set::{ChangeSet, ReservationKey};
use crate::idempotency::IdempotencyRecord;
use crate::record::RecordKey;

/// The sequence numbers that a commit assigned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// The sequence numbers of the change set's events, in order.
    pub sequences: Vec<i64>,
}

/// The reason why a change set was not committed, or may not have been committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A record changed since it was read. The caller must read again and decide again.
    #[error("a record was changed since it was read")]
    Stale,
    /// The balance of the debited ledger account does not cover a transfer.
    #[error("the balance of {account} is insufficient for the transfer")]
    NotCovered {
        /// The ledger account to debit.
        account: LedgerAccount,
        /// The balance of `account` before the change set. Earlier transfers of the change set are not included.
        available: Money,
    },
    /// A unique value has another owner.
    #[error("{} is taken", .key.space())]
    Taken {
        /// The value that is taken.
        key: ReservationKey,
        /// The public id of the value's owner.
        by: String,
    },
    /// The idempotency record differs from the expected one. For [`Take`](crate::IdempotencyChange::Take), the key
    /// already has a record. For the other changes, the record has a response or another fence.
    #[error("the idempotency key is in use")]
    KeyInUse {
        /// The current record.
        record: Box<IdempotencyRecord>,
    },
    /// An inserted record already exists. For a record that never changes, a store may report [`CommitError::Corrupt`]
    /// instead.
    #[error("the record exists: {0:?}")]
    Exists(RecordKey),
    /// The store cannot be reached, or did not answer within its time limit. The outcome is unknown: the change set may
    /// have been committed.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The store refused a valid change, because of a defect or a damaged store. The change was not committed.
    #[error("the store refused the change: {0}")]
    Corrupt(String),
}

/// The write side of the store.
#[async_trait]
pub trait Store: Send + Sync {
    /// Commits the whole of `change`, or no part of it.
    ///
    /// The order of checks is: the idempotency record, the reservations, the versions, the balances that transfers
    /// debit, and the amounts that ending blocks hold. Checks of one kind follow the order within `change`.
    ///
    /// # Errors
    /// [`CommitError`]. After every error except `Unavailable`, no part of `change` is committed.
    async fn commit(&self, change: ChangeSet) -> Result<Committed, CommitError>;
}
