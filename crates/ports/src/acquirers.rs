//! All acquirers of the installation together.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;

use crate::acquirer::{Acquirer, AcquirerError, ChargeOrder, UpstreamCharge};

/// The reason no acquirer issued a charge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// All acquirers certainly did not issue the charge: each refused, was down, or has an open breaker.
    #[error("no acquirer accepted the charge")]
    NoneTook {
        /// The acquirers that received the request, with their errors, in the order of the requests. Empty if all breakers
        /// are open.
        reasons: Vec<(AcquirerName, AcquirerError)>,
    },
    /// An acquirer may have issued the charge. Only that acquirer may receive another request.
    #[error("the outcome at {acquirer} is unknown: {reason}")]
    Unknown {
        /// The acquirer.
        acquirer: AcquirerName,
        /// The reason.
        reason: String,
    },
}

/// All configured acquirers, with their availability.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Acquirers: Send + Sync {
    /// Returns the first acquirer for a new charge: one of `preferred` in that order, otherwise by the configured order.
    /// `None` if the breakers of all acquirers for charges are open, or all are drained.
    fn first(&self, preferred: &[AcquirerName]) -> Option<AcquirerName>;

    /// Returns whether an acquirer for a new charge is available now. The question changes no turn.
    fn is_available(&self) -> bool;

    /// Returns the first acquirer for a new payout, selected like one for a charge.
    fn first_sender(&self, preferred: &[AcquirerName]) -> Option<AcquirerName>;

    /// Returns all configured acquirers, in order.
    fn names(&self) -> Vec<AcquirerName>;

    /// Creates the charge at the first accepting acquirer, beginning with `begin_with`. The next acquirer follows
    /// only if the previous acquirer certainly did not accept the charge.
    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        budget: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError>;

    /// Returns the acquirer with this name, guarded by its breaker.
    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>>;
}
