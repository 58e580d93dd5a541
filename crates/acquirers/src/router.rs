//! All configured acquirers in order. A charge goes to the first acquirer, and to the next only after a certain
//! failure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, AcquirerError, Acquirers, ChargeOrder, IssueError, UpstreamCharge};

use crate::breaker::MonotonicClock;
use crate::deadline::Deadline;
use crate::guard::MIN_BUDGET;
use crate::guarded::Guarded;

/// The time reserved for each following acquirer, so that a slow failure leaves time for the next.
const RESERVE: Duration = Duration::from_millis(2_500);

/// The acquirers, each behind its breaker.
pub struct Router {
    members: Vec<Arc<Guarded>>,
}

impl Router {
    /// Creates a router that offers charges in the given order. Of two acquirers with the same name, the first is used.
    #[must_use]
    pub fn new(acquirers: Vec<Arc<dyn Acquirer>>) -> Self {
        let clock: MonotonicClock = Arc::new(Instant::now);
        Self::with_clock(acquirers, &clock)
    }

    /// Creates a router with the given clock for the breakers.
    #[must_use]
    pub fn with_clock(acquirers: Vec<Arc<dyn Acquirer>>, clock: &MonotonicClock) -> Self {
        let guard = |acquirer| Arc::new(Guarded::new(acquirer, Arc::clone(clock)));
        Self { members: acquirers.into_iter().map(guard).collect() }
    }

    fn member(&self, name: &AcquirerName) -> Option<&Arc<Guarded>> {
        self.members.iter().find(|member| member.name() == name)
    }
}

#[async_trait]
impl Acquirers for Router {
    fn first(&self) -> Option<AcquirerName> {
        let available = self.members.iter().find(|member| member.is_available());
        available.map(|member| member.name().clone())
    }

    fn first_sender(&self) -> Option<AcquirerName> {
        let sender = self.members.iter().find(|member| member.sends_payouts() && member.is_available());
        sender.map(|member| member.name().clone())
    }

    fn names(&self) -> Vec<AcquirerName> {
        let mut names: Vec<AcquirerName> = Vec::with_capacity(self.members.len());
        for member in &self.members {
            if !names.contains(member.name()) {
                names.push(member.name().clone());
            }
        }
        names
    }

    async fn issue(
        &self,
        order: &ChargeOrder,
        begin_with: &AcquirerName,
        budget: Duration,
    ) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
        let Some(beginning) = self.member(begin_with) else {
            let error = AcquirerError::Unavailable("the acquirer is not configured".to_owned());
            return Err(IssueError::NoneTook { reasons: vec![(begin_with.clone(), error)] });
        };
        let others = self.members.iter().filter(|member| member.name() != begin_with);
        let deadline = Deadline::after(budget);
        let mut reasons = Vec::new();
        for (index, member) in std::iter::once(beginning).chain(others).enumerate() {
            let following = self.members.len().saturating_sub(index.saturating_add(1));
            let following = u32::try_from(following).unwrap_or(u32::MAX);
            let share = share(deadline.left(), following);
            if share < MIN_BUDGET {
                break;
            }
            let name = member.name();
            let error = match member.try_create(order, share).await {
                None => continue,
                Some(Ok(charge)) => return Ok((name.clone(), charge)),
                Some(Err(AcquirerError::OutcomeUnknown(reason))) => {
                    return Err(IssueError::Unknown { acquirer: name.clone(), reason });
                }
                Some(Err(error @ (AcquirerError::Refused(_) | AcquirerError::Unavailable(_)))) => error,
            };
            tracing::warn!(acquirer = %name, txid = %order.txid, %error, "charge not accepted by the acquirer");
            reasons.push((name.clone(), error));
        }
        Err(IssueError::NoneTook { reasons })
    }

    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>> {
        let member: Arc<dyn Acquirer> = self.member(name)?.clone();
        Some(member)
    }
}

/// Returns the time for one acquirer: the remaining time less the reserve of the following acquirers, at least half.
fn share(left: Duration, following: u32) -> Duration {
    if following == 0 {
        return left;
    }
    left.saturating_sub(RESERVE.saturating_mul(following)).max(left / 2)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::share;

    #[test]
    fn following_acquirers_keep_their_reserve() {
        for (left_ms, following, wanted_ms) in
            [(9_000, 0, 9_000), (9_000, 1, 6_500), (9_000, 2, 4_500), (4_000, 1, 2_000), (0, 1, 0)]
        {
            let found = share(Duration::from_millis(left_ms), following);
            assert_eq!(found, Duration::from_millis(wanted_ms), "{left_ms} {following}");
        }
    }
}
