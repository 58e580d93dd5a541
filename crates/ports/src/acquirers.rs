//! All configured acquirers of the service.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;

use crate::acquirer::{Acquirer, AcquirerError, ChargeOrder, UpstreamCharge};

/// The reason why no acquirer issued a charge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// Certainly no acquirer issued the charge. Each acquirer refused the charge, was not available, or received no
    /// request. An acquirer receives no request if its breaker is open, it is drained, or too little time is left.
    #[error("no acquirer accepted the charge")]
    NoneTook {
        /// The acquirers that received the request, with their errors, in the order of the requests. The list is empty
        /// if no acquirer received the request.
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
    /// the configured order follows. Acquirers with the same place in the configured order take turns. Returns `None`
    /// if every acquirer for charges has an open breaker or is drained.
    fn first(&self, preferred: &[AcquirerName]) -> Option<AcquirerName>;

    /// Returns whether [`Self::first`] would return an acquirer now. This call uses up no turn.
    fn is_available(&self) -> bool;

    /// Returns whether the breaker of this acquirer refuses calls now. A breaker refuses calls while it is open, and
    /// during its trial call. Each node has its own breakers. Returns `false` for an unknown name.
    fn is_refusing(&self, name: &AcquirerName) -> bool;

    /// Returns the acquirer that a new payout should use. The order is the same as for [`Self::first`]. Returns `None`
    /// if every acquirer for payouts has an open breaker or is drained.
    fn first_sender(&self, preferred: &[AcquirerName]) -> Option<AcquirerName>;

    /// Returns the names of all configured acquirers, in the configured order.
    fn names(&self) -> Vec<AcquirerName>;

    /// Creates the charge. Returns the charge with the name of the acquirer that issued it. The first request goes to
    /// `begin_with`. The next acquirer receives a request only if the previous one certainly did not accept the charge.
    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        budget: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError>;

    /// Returns the acquirer with this name, or `None` if it is not configured. Calls of the result pass through the
    /// acquirer's breaker.
    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>>;
}
