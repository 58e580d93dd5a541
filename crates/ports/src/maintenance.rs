//! Queries and tasks for operators and housekeeping. They are not part of the payment path.

use async_trait::async_trait;
use cais_domain::ids::AccountId;
use jiff::Timestamp;

use crate::queries::QueryError;
use crate::usage::{KeyUse, LoggedRequest};

/// The numbers of removed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Idempotency records that have a response, or that only their caller may resume.
    pub idempotency_records: u64,
    /// Commit marks: rows that record whether a batch of change sets was committed or aborted.
    pub batches: u64,
    /// Callbacks that are done or unmatched.
    pub callbacks: u64,
    /// Events, with their deliveries and attempts.
    pub events: u64,
    /// Crypto quotes that expired without use.
    pub crypto_quotes: u64,
    /// Logged requests.
    pub requests: u64,
}

/// The limits of removal. Only rows that are older than these instants are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneBefore {
    /// Idempotency records without a due time.
    pub idempotency_records: Timestamp,
    /// Callbacks that are done, crypto quotes that expired without use, commit marks of batches, and sessions and
    /// confirmations that have expired.
    pub marks: Timestamp,
    /// Rows of three kinds: unmatched callbacks; events without pending deliveries, with their deliveries and attempts;
    /// and deleted endpoints without deliveries.
    pub events: Timestamp,
    /// Logged requests.
    pub requests: Timestamp,
}

/// A difference in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerDifference {
    /// The ledger account, or the violated rule.
    pub what: String,
    /// The value that follows from the entries or the rule.
    pub expected: i64,
    /// The stored value.
    pub stored: i64,
}

/// The result of a rebuild of all balances from their entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerReport {
    /// The number of rebuilt ledger accounts.
    pub accounts: u64,
    /// The number of entries.
    pub entries: u64,
    /// The differences, at most the first 1,000.
    pub differences: Vec<LedgerDifference>,
}

/// A comparison of the ledger with its entries, as monitoring shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verification {
    /// The instant of the comparison.
    pub at: Timestamp,
    /// The number of differences, at most 1,000.
    pub differences: u64,
}

/// Housekeeping and consistency checks.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Rebuilds all balances from their entries at one instant, and checks these rules:
    /// - In each ledger account, the balance, the running balances and the number of entries match the entries. No
    ///   balance of a merchant is negative.
    /// - Event sequences have no gaps, and every payment is credited in full once.
    /// - Blocked balances are the sum of their blocks.
    /// - Pending balances are the money that waits for its release, minus the seized part.
    /// - The sum of all balances is zero.
    async fn verify_ledger(&self) -> Result<LedgerReport, QueryError>;

    /// Stores the result of a comparison. All nodes show the last comparison.
    async fn record_verification(&self, verification: Verification) -> Result<(), QueryError>;

    /// Returns the last comparison. Returns `None` before the first.
    async fn last_verification(&self) -> Result<Option<Verification>, QueryError>;

    /// Removes old rows. Each call removes a limited number. Of an account's events only the oldest are removed, so
    /// that the remaining sequence has no gap.
    async fn prune(&self, before: PruneBefore) -> Result<Pruned, QueryError>;

    /// Checks that the store answers and has the required schema.
    async fn ready(&self) -> Result<(), QueryError>;

    /// Returns the last sequence number of the account's events. Returns 0 if there are no events.
    async fn last_sequence(&self, account: AccountId) -> Result<i64, QueryError>;

    /// Stores the last uses of keys. A use that is older than the stored one has no effect. A use of an unknown key has
    /// no effect either.
    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), QueryError>;

    /// Stores answered requests, each once. For each account in `trim`, only the newest [`crate::MAX_LOGGED_REQUESTS`]
    /// are kept.
    async fn record_requests(&self, requests: Vec<LoggedRequest>, trim: Vec<AccountId>) -> Result<(), QueryError>;
}
