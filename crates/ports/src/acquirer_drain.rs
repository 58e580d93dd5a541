//! Drained acquirers: new orders go to other acquirers, and open orders are finished.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use jiff::Timestamp;

use crate::queries::QueryError;

/// A drain of an acquirer, current or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerDrain {
    /// The drained acquirer.
    pub acquirer: AcquirerName,
    /// The start of the drain. `None` if the drain has ended.
    pub since: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// The number of open orders of all accounts at an acquirer. Each count stops at [`OpenOrders::MOST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenOrders {
    /// Charges that can still be paid.
    pub charges: u64,
    /// Payouts that are `processing`.
    pub payouts: u64,
    /// Refunds that are `processing`.
    pub refunds: u64,
    /// Infractions that are not resolved, with and without a defense.
    pub infractions: u64,
}

impl OpenOrders {
    /// The limit of each count, which keeps counting cheap. A higher number would not change what an operator does.
    pub const MOST: u32 = 100_000;

    /// Returns the number of all open orders.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.charges.saturating_add(self.payouts).saturating_add(self.refunds).saturating_add(self.infractions)
    }
}

/// Drains and open orders.
#[async_trait]
pub trait DrainQueries: Send + Sync {
    /// Lists all drains in the order of the acquirers' names, including drains that have ended. The list has no pages:
    /// there are few drains, because only operators write them.
    async fn list_drains(&self) -> Result<Vec<AcquirerDrain>, QueryError>;

    /// Counts the open orders at an acquirer.
    async fn count_open_orders(&self, acquirer: &AcquirerName) -> Result<OpenOrders, QueryError>;

    /// Counts the open orders at each acquirer and processor that has a [`crate::PollPosition`], in the order of the
    /// names. The first position is stored when a list of the acquirer is first read. Positions stay after the acquirer
    /// is removed from the configuration. A processor has no such orders, so its counts are 0.
    async fn list_open_orders(&self) -> Result<Vec<(AcquirerName, OpenOrders)>, QueryError>;
}
