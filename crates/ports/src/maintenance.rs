//! Queries and tasks for operators and housekeeping. They are not part of the payment path.

use async_trait::async_trait;
use cais_domain::ids::AccountId;
use jiff::Timestamp;

use crate::queries::QueryError;
use crate::usage::{KeyUse, LoggedRequest};

/// The numbers of removed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Idempotency records that have a response or wait for a repeat by the caller.
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

/// The limits of removal, one instant per kind of row. Only rows that are older than the instant are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneBefore {
    /// Idempotency records that have a response or wait for a repeat by the caller.
    pub idempotency_records: Timestamp,
    /// Rows of four kinds:
    /// - callbacks that are done;
    /// - crypto quotes that expired without use;
    /// - commit marks ([`Pruned::batches`]);
    /// - expired sessions and confirmations.
    pub marks: Timestamp,
    /// Rows of four kinds:
    /// - unmatched callbacks;
    /// - events without pending deliveries, with their deliveries and attempts;
    /// - test deliveries that are not pending;
    /// - deleted endpoints without deliveries.
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

/// The result of [`Maintenance::verify_ledger`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedgerReport {
    /// The number of checked ledger accounts that have entries.
    pub accounts: u64,
    /// The number of checked entries.
    pub entries: u64,
    /// The differences, at most 1,000.
    pub differences: Vec<LedgerDifference>,
}

/// The time of a ledger check and its number of differences, for monitoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerCheckResult {
    /// The instant of the check.
    pub at: Timestamp,
    /// The number of differences, at most 1,000.
    pub differences: u64,
}

/// Housekeeping and consistency checks.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Checks the ledger in one snapshot, and changes nothing. The main rules are:
    /// - The balance of each ledger account, each balance after an entry, and the stored count of entries agree with
    ///   the entries.
    /// - No balance of a merchant is negative. The sum of all balances is zero.
    /// - Event sequences have no gaps. Every payment is credited once and in full.
    /// - The blocked balance of an account is the sum of its blocks.
    /// - The pending balance of an account is the money that waits for its release, minus the seized part.
    async fn verify_ledger(&self) -> Result<LedgerReport, QueryError>;

    /// Stores the result of a ledger check. All nodes show the result of the last check.
    async fn record_ledger_check(&self, check: LedgerCheckResult) -> Result<(), QueryError>;

    /// Returns the result of the last ledger check. Returns `None` before the first.
    async fn last_ledger_check(&self) -> Result<Option<LedgerCheckResult>, QueryError>;

    /// Removes a limited number of old rows. The events of an account are removed in the order of their sequence, so
    /// that the remaining sequence has no gap.
    async fn prune(&self, before: PruneBefore) -> Result<Pruned, QueryError>;

    /// Checks that the store answers and has the required schema.
    async fn ready(&self) -> Result<(), QueryError>;

    /// Returns the last sequence number of the account's events. Returns 0 if there are no events.
    async fn last_sequence(&self, account: AccountId) -> Result<i64, QueryError>;

    /// Stores the last uses of API keys. A use that is older than the stored one has no effect. A use of an unknown key
    /// has no effect either.
    async fn record_key_uses(&self, uses: Vec<KeyUse>) -> Result<(), QueryError>;

    /// Stores answered requests; a request that is already stored has no effect. Then removes the logged requests of
    /// each account in `trim`, except the newest [`crate::MAX_LOGGED_REQUESTS`].
    async fn record_requests(&self, requests: Vec<LoggedRequest>, trim: Vec<AccountId>) -> Result<(), QueryError>;
}
