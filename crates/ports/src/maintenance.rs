//! Queries and tasks for operators and housekeeping, outside of the payment path.

use async_trait::async_trait;
use cais_domain::ids::AccountId;
use jiff::Timestamp;

use crate::queries::QueryError;
use crate::usage::{KeyUse, LoggedRequest};

/// The numbers of removed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Idempotency records that are answered, or that waited only for their caller.
    pub idempotency_records: u64,
    /// Commit marks of batches.
    pub batches: u64,
    /// Callbacks that are done, or were unmatched for long.
    pub callbacks: u64,
    /// Events, with their deliveries and attempts.
    pub events: u64,
    /// Crypto quotes that expired unused.
    pub crypto_quotes: u64,
    /// Logged requests.
    pub requests: u64,
}

/// The limits of removal: rows older than these instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneBefore {
    /// Idempotency records without a due time.
    pub idempotency_records: Timestamp,
    /// Done callbacks, crypto quotes that expired unused, and commit marks of batches.
    pub marks: Timestamp,
    /// Unmatched callbacks; events without pending deliveries, with their deliveries and attempts; and remains of
    /// deleted endpoints.
    pub events: Timestamp,
    /// Logged requests.
    pub requests: Timestamp,
}

/// A difference in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerDifference {
    /// The ledger account, or the violated rule.
    pub what: String,
    /// The value by the entries or the rule.
    pub expected: i64,
    /// The stored value.
    pub stored: i64,
}

/// The result of rebuilding all balances from their entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerReport {
    /// The number of rebuilt ledger accounts.
    pub accounts: u64,
    /// The number of entries.
    pub entries: u64,
    /// The differences, at most the first 1,000.
    pub differences: Vec<LedgerDifference>,
}

/// Housekeeping and audits.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Rebuilds all balances from their entries at one instant. Checks sums, running balances and counts, no negative
    /// balance of a merchant, event sequences without gaps, and every payment credited in full once. Blocked balances
    /// must be the sum of their blocks. Pending balances must be the waiting money less the seized part. The sum of all
    /// balances must be zero.
    async fn verify_ledger(&self) -> Result<LedgerReport, QueryError>;

    /// Removes old rows, a bounded number per call. Only the oldest events of an account are removed, so that the
    /// remaining sequence has no gap.
    async fn prune(&self, before: PruneBefore) -> Result<Pruned, QueryError>;

    /// Checks that the store answers and has the required schema.
    async fn ready(&self) -> Result<(), QueryError>;

    /// Returns the last sequence number of the account's events; 0 without events.
    async fn last_sequence(&self, account: AccountId) -> Result<i64, QueryError>;

    /// Stores the last uses of keys. An earlier use than the stored one has no effect, nor has a use of an unknown key.
    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), QueryError>;

    /// Stores answered requests, each once. Then keeps the newest [`crate::MAX_LOGGED_REQUESTS`] of each account in `trim` only.
    async fn record_requests(&self, requests: Vec<LoggedRequest>, trim: Vec<AccountId>) -> Result<(), QueryError>;
}
