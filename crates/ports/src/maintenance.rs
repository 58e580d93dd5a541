//! What operators and housekeeping ask of a store, away from the path of payments.

use async_trait::async_trait;
use cais_domain::ids::AccountId;
use jiff::Timestamp;

use crate::queries::QueryError;

/// How many rows housekeeping removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Idempotency claims that are answered, or that waited for their caller alone.
    pub claims: u64,
    /// Marks of batches.
    pub batches: u64,
    /// Notices that are done, or were unmatched for long.
    pub notices: u64,
    /// Events, with their deliveries and attempts.
    pub events: u64,
}

/// What housekeeping may remove: everything older than its instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneBefore {
    /// Idempotency claims without a due time.
    pub claims: Timestamp,
    /// Done notices and batch marks.
    pub marks: Timestamp,
    /// Unmatched notices; events that nobody waits for any more, their deliveries and attempts; and what is left of deleted endpoints.
    pub events: Timestamp,
}

/// One thing that does not add up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerDifference {
    /// The ledger account, or the rule that is broken.
    pub what: String,
    /// What the entries, or the rule, say.
    pub expected: i64,
    /// What is stored.
    pub stored: i64,
}

/// What a rebuild of all balances from their entries found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerReport {
    /// How many ledger accounts were rebuilt.
    pub accounts: u64,
    /// From how many entries.
    pub entries: u64,
    /// What does not add up; at most the first 1,000.
    pub differences: Vec<LedgerDifference>,
}

/// Housekeeping and audits.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Rebuilds every balance from its entries at one instant and compares: sums, running balances, counts,
    /// no negative balance of a merchant, gap-free event sequences, every payment credited in full once, blocked balances that are the sum
    /// of their blocks, pending ones that are what waits for its release less what was taken of it, and the sum of all balances, which is zero.
    async fn verify_ledger(&self) -> Result<LedgerReport, QueryError>;

    /// Removes what is old, a bounded number of rows at a time. Of an account's events only the oldest go, so that what is left of
    /// their sequence has no gap.
    async fn prune(&self, before: PruneBefore) -> Result<Pruned, QueryError>;

    /// Whether the store answers, and holds the schema that this program needs.
    async fn ready(&self) -> Result<(), QueryError>;

    /// The last sequence number of the account's events; 0 before the first.
    async fn last_sequence(&self, account: AccountId) -> Result<i64, QueryError>;
}
