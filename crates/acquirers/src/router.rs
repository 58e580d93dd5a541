//! The router: all configured acquirers in order. A charge is sent to the first available one, and to the next one only if the previous one
//! certainly did not accept it. A payout is sent only to the acquirer that was selected for it. Drained acquirers receive no new orders.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, AcquirerError, Acquirers, ChargeOrder, IssueError, UpstreamCharge};
use metrics::counter;

use crate::breaker::MonotonicClock;
use crate::deadline::Deadline;
use crate::guard::MIN_BUDGET;
use crate::guarded::Guarded;

/// The part of the budget reserved for each following acquirer, so that a slow failure leaves time for the next acquirer.
const RESERVE: Duration = Duration::from_millis(2_500);

/// The new orders that an acquirer receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The number that sorts the acquirers, the lowest first. Acquirers without a number follow in the given order.
    pub order: Option<u32>,
    /// The share of new orders among the acquirers with the same number: with weights 3 and 1, the first acquirer receives three of four
    /// orders. Without a number the weight has no effect.
    pub weight: u32,
    /// True if the acquirer receives new charges.
    pub charges: bool,
    /// True if the acquirer receives new payouts. An acquirer that cannot send Pix never receives any.
    pub payouts: bool,
}

/// The route of an acquirer for all operations, without a number.
impl Default for Route {
    fn default() -> Self {
        Self { order: None, weight: 1, charges: true, payouts: true }
    }
}

/// The acquirers, each behind its breaker.
pub struct Router {
    /// The acquirers in their order.
    members: Vec<Member>,
    drained: RwLock<Vec<AcquirerName>>,
    /// The counts of selections for each operation, by which acquirers with the same `order` take turns.
    charge_turns: AtomicU32,
    payout_turns: AtomicU32,
}

struct Member {
    acquirer: Arc<Guarded>,
    route: Route,
}

/// The operation of a new order.
#[derive(Clone, Copy)]
enum Operation {
    Charge,
    Payout,
}

impl Member {
    fn name(&self) -> &AcquirerName {
        self.acquirer.name()
    }

    fn is_for(&self, operation: Operation) -> bool {
        match operation {
            Operation::Charge => self.route.charges,
            Operation::Payout => self.route.payouts && self.acquirer.sends_payouts(),
        }
    }
}

impl Router {
    /// Creates a router of acquirers in the given order, each for all operations. If two acquirers have the same name, the name selects
    /// the first.
    #[must_use]
    pub fn new(acquirers: Vec<Arc<dyn Acquirer>>) -> Self {
        let clock: MonotonicClock = Arc::new(Instant::now);
        Self::with_clock(acquirers, &clock)
    }

    /// Creates a router with the given clock for the breakers.
    #[must_use]
    pub fn with_clock(acquirers: Vec<Arc<dyn Acquirer>>, clock: &MonotonicClock) -> Self {
        Self::build(acquirers.into_iter().map(|acquirer| (acquirer, Route::default())).collect(), clock)
    }

    /// Creates a router with a route for each acquirer.
    #[must_use]
    pub fn with_routes(acquirers: Vec<(Arc<dyn Acquirer>, Route)>) -> Self {
        let clock: MonotonicClock = Arc::new(Instant::now);
        Self::build(acquirers, &clock)
    }

    fn build(acquirers: Vec<(Arc<dyn Acquirer>, Route)>, clock: &MonotonicClock) -> Self {
        let guard = |acquirer| Arc::new(Guarded::new(acquirer, Arc::clone(clock)));
        let members = acquirers.into_iter().map(|(acquirer, route)| Member { acquirer: guard(acquirer), route });
        let mut members: Vec<Member> = members.collect();
        members.sort_by_key(|member| member.route.order.map_or((true, 0), |order| (false, order)));
        Self { members, drained: RwLock::default(), charge_turns: AtomicU32::new(0), payout_turns: AtomicU32::new(0) }
    }

    /// Replaces the list of drained acquirers. They receive no new orders, and finish their open orders.
    pub fn set_drained(&self, names: Vec<AcquirerName>) {
        *self.drained.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Replaces the client of an acquirer, for example after a change of its certificate. An unknown name has no effect.
    pub fn replace(&self, client: &Arc<dyn Acquirer>) {
        if let Some(member) = self.member(client.name()) {
            member.acquirer.replace(Arc::clone(client));
        }
    }

    fn member(&self, name: &AcquirerName) -> Option<&Member> {
        self.members.iter().find(|member| member.name() == name)
    }

    /// Returns the acquirers that receive new orders of the operation, sorted. Acquirers with an open breaker are included.
    fn for_new(&self, operation: Operation) -> impl Iterator<Item = &Member> {
        let drained = self.drained.read().unwrap_or_else(PoisonError::into_inner).clone();
        let takes = move |member: &&Member| member.is_for(operation) && !drained.contains(member.name());
        self.members.iter().filter(takes)
    }

    fn available(&self, operation: Operation) -> impl Iterator<Item = &Member> {
        self.for_new(operation).filter(|member| member.acquirer.is_available())
    }

    fn select(&self, operation: Operation, preferred: &[AcquirerName]) -> Option<AcquirerName> {
        let available: Vec<&Member> = self.available(operation).collect();
        let named = |name: &AcquirerName| available.iter().find(|member| member.name() == name);
        let chosen = preferred.iter().find_map(named).or_else(|| self.next_of_first(operation, &available));
        chosen.map(|member| member.name().clone())
    }

    /// Returns the first available acquirer. If it has a number, the available acquirers with the same number take turns by their weights.
    fn next_of_first<'a, 'b>(&self, operation: Operation, available: &'b [&'a Member]) -> Option<&'b &'a Member> {
        let first = available.first()?;
        if first.route.order.is_none() {
            return Some(first);
        }
        let equals = || available.iter().filter(|member| member.route.order == first.route.order);
        let total = equals().map(|member| member.route.weight).fold(0_u32, u32::saturating_add);
        let turns = match operation {
            Operation::Charge => &self.charge_turns,
            Operation::Payout => &self.payout_turns,
        };
        let mut place = turns.fetch_add(1, Ordering::Relaxed).checked_rem(total)?;
        for member in equals() {
            match place.checked_sub(member.route.weight) {
                None => return Some(member),
                Some(rest) => place = rest,
            }
        }
        Some(first)
    }
}

#[async_trait]
impl Acquirers for Router {
    fn first(&self, preferred: &[AcquirerName]) -> Option<AcquirerName> {
        self.select(Operation::Charge, preferred)
    }

    fn is_available(&self) -> bool {
        self.available(Operation::Charge).next().is_some()
    }

    fn is_refusing(&self, name: &AcquirerName) -> bool {
        self.member(name).is_some_and(|member| !member.acquirer.is_available())
    }

    fn first_sender(&self, preferred: &[AcquirerName]) -> Option<AcquirerName> {
        self.select(Operation::Payout, preferred)
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
        let others = self.for_new(Operation::Charge).filter(|member| member.name() != begin_with);
        let in_order: Vec<&Member> = std::iter::once(beginning).chain(others).collect();
        let deadline = Deadline::after(budget);
        let mut reasons: Vec<(AcquirerName, AcquirerError)> = Vec::new();
        for (index, member) in in_order.iter().enumerate() {
            let following = in_order.len().saturating_sub(index.saturating_add(1));
            let following = u32::try_from(following).unwrap_or(u32::MAX);
            let share = share(deadline.left(), following);
            if share < MIN_BUDGET {
                break;
            }
            let name = member.name();
            let Some(result) = member.acquirer.try_create(order, share).await else { continue };
            if let Some((previous, _)) = reasons.last() {
                counter!("cais_acquirer_charges_passed_on_total", "acquirer" => previous.to_string()).increment(1);
            }
            let error = match result {
                Ok(charge) => return Ok((name.clone(), charge)),
                Err(AcquirerError::OutcomeUnknown(reason)) => {
                    return Err(IssueError::Unknown { acquirer: name.clone(), reason });
                }
                Err(error @ (AcquirerError::Refused(_) | AcquirerError::Unavailable(_))) => error,
            };
            tracing::warn!(acquirer = %name, txid = %order.txid, %error, "charge not accepted by the acquirer");
            reasons.push((name.clone(), error));
        }
        Err(IssueError::NoneTook { reasons })
    }

    fn named(&self, name: &AcquirerName) -> Option<Arc<dyn Acquirer>> {
        let member: Arc<dyn Acquirer> = self.member(name)?.acquirer.clone();
        Some(member)
    }
}

/// Returns the time for one acquirer: the remaining time less the reserve of the following acquirers, but at least half of the remaining
/// time.
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
