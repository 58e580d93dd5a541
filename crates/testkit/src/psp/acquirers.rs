//! The simulated acquirers behind the port that offers them in their order.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, AcquirerError, Acquirers, ChargeOrder, IssueError, UpstreamCharge};

use super::{FakePsp, Moment};

/// Simulated acquirers in the order in which the router offers them.
pub struct FakeAcquirers(Vec<FakePsp>);

impl FakeAcquirers {
    /// Creates the list from these acquirers, in that order.
    #[must_use]
    pub fn new(psps: &[FakePsp]) -> Self {
        Self(psps.to_vec())
    }
}

#[async_trait]
impl Acquirers for FakeAcquirers {
    fn first(&self, preferred: &[AcquirerName]) -> Option<AcquirerName> {
        let available = || self.0.iter().filter(|psp| !psp.state().breaker_open);
        let chosen = preferred.iter().find_map(|name| available().find(|psp| psp.name == *name));
        chosen.or_else(|| available().next()).map(|psp| psp.name.clone())
    }

    fn is_available(&self) -> bool {
        self.0.iter().any(|psp| !psp.state().breaker_open)
    }

    fn is_refusing(&self, name: &AcquirerName) -> bool {
        self.0.iter().any(|psp| psp.name == *name && psp.state().breaker_open)
    }

    fn first_sender(&self, preferred: &[AcquirerName]) -> Option<AcquirerName> {
        self.first(preferred)
    }

    fn names(&self) -> Vec<AcquirerName> {
        self.0.iter().map(|psp| psp.name.clone()).collect()
    }

    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        budget: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
        let mut reasons = Vec::new();
        for psp in self.0.iter().skip_while(|psp| psp.name != *begin_with) {
            let acquirer = psp.name.clone();
            match psp.create_charge(order, budget).await {
                Ok(charge) => return Ok((acquirer, charge)),
                Err(AcquirerError::OutcomeUnknown(reason)) => return Err(IssueError::Unknown { acquirer, reason }),
                Err(error) => reasons.push((acquirer, error)),
            }
        }
        Err(IssueError::NoneTook { reasons })
    }

    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>> {
        let psp = self.0.iter().find(|psp| psp.name == *name)?;
        psp.run_hook(Moment::Selected);
        Some(Arc::new(psp.clone()))
    }
}
