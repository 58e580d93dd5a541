//! All configured acquirers of the service.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;

use crate::acquirer::{Acquirer, AcquirerError, ChargeOrder, UpstreamCharge};

/// The reason why no acquirer issued a charge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// Certainly no acquirer issued the charge: each acquirer refused the charge, was not available, or has an open
    /// breaker.
    #[error("no acquirer accepted the charge")]
    NoneTook {
        /// The acquirers that received the request, with their errors, in the order of the requests. The list is empty
        /// if all breakers are open.
        reasons: Vec<(AcquirerName, AcquirerError)>,
    },
    /// An acquirer may have issued the charge. No other acquirer may receive a request for it.
    #[error("the outcome at {acquirer} is unknown: {reason}")]
    Unknown {
        /// The acquirer that may have issued the charge.
        acquirer: AcquirerName,
        /// The reason why the outcome is unknown.
        reason: String,
    },
}

/// All configured acquirers, with their availability.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait Acquirers: Send + Sync {
    /// Returns the acquirer that a new charge should try first. The acquirers in `preferred` come first, in that order;
    /// the configured order follows. Returns `None` if every acquirer for charges has an open breaker or is drained.
    fn first(&self, preferred: &[AcquirerName]) -> Option<AcquirerName>;

    /// Returns whether an acquirer for a new charge is available now. The call does not change which acquirer is next.
    fn is_available(&self) -> bool;

    /// Returns whether calls to this acquirer are refused now. Its breaker is then open, or a trial call is testing
    /// whether the acquirer answers again. Each node has its own breakers. Returns `false` for an unknown name.
    fn is_refusing(&self, name: &AcquirerName) -> bool;

    /// Returns the acquirer that a new payout should use, in the order of [`Self::first`]. Returns `None` if every
    /// acquirer for payouts has an open breaker or is drained.
    fn first_sender(&self, preferred: &[AcquirerName]) -> Option<AcquirerName>;

    /// Returns the names of all configured acquirers, in the configured order.
    fn names(&self) -> Vec<AcquirerName>;

    /// Creates the charge. The first acquirer is `begin_with`. The next acquirer receives a request only if the
    /// previous one certainly did not accept the charge.
    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        budget: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError>;

    /// Returns the acquirer with this name. Calls of the result pass through the acquirer's breaker.
    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>>;
}
