//! The queues with work, the classes of endpoints, and the slots for deliveries in flight. A slow endpoint cannot use
//! up the slots of the other endpoints.
//!
//! A delivery has a slot from its claim until its outcome is stored. Each node classifies endpoints by their last
//! attempt:
//!
//! | class | condition | slots of one endpoint | slots of the class |
//! |---|---|---|---|
//! | `Healthy` | the last attempt succeeded in less than 2 s | `per_endpoint`, or a quarter of it while half or more of all slots are used | all |
//! | `Unknown` | not called yet, or the last attempt failed in less than 2 s | 1 | half |
//! | `Slow` | the last attempt, or a call in flight, lasted 2 s or more | a quarter of `per_endpoint` | a quarter |
//!
//! Unknown and slow endpoints together have at most three quarters of the slots. So a quarter of the slots is reserved
//! for healthy endpoints, and unknown endpoints do not wait for slow ones. These limits apply to one node. Over all
//! nodes, the store limits each endpoint to `per_endpoint` slots.

use std::collections::HashMap;

use cais_domain::ids::{DeliveryId, EndpointId};
use cais_ports::{ClaimedDelivery, DeliveryKey, EndpointQueue};
use jiff::{SignedDuration, Timestamp};

use super::DispatchLimits;
use super::attempt::AttemptStatus;
use waiting::{EndpointClass, Waiting};

mod waiting;

/// A call of this duration or longer makes its endpoint slow. A working receiver answers much faster.
const SLOW_CALL: SignedDuration = SignedDuration::from_secs(2);
/// The divisor of `per_endpoint` for the slots of a slow endpoint. It also applies to a healthy endpoint while half or
/// more of all slots are used.
const SLOT_DIVISOR: u32 = 4;
/// A claim can return fewer deliveries than there were free slots, because the queue is empty or other nodes use its
/// slots. If this node has at least this number of deliveries in flight to the endpoint, other nodes may use slots, and
/// `claim_again` is set. With fewer, the queue is assumed to be empty.
const MIN_SHARED_IN_FLIGHT: usize = 2;
/// The largest number of queues in one claim.
const MAX_CLAIM_QUEUES: usize = 128;
/// The largest number of endpoints with a stored class. When it is reached, all entries are removed, and all endpoints
/// are unknown again.
const MAX_CLASSES: usize = 65_536;

/// A request to the store to claim due deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClaimRequest {
    /// The queues from which deliveries are claimed.
    pub queues: Vec<EndpointQueue>,
    /// The number of free slots of each queue at this node when the claim was made, in the order of `queues`.
    free_slots: Vec<usize>,
    /// The largest number of deliveries to claim from one queue.
    pub at_once: u32,
    /// The largest number of deliveries to claim.
    pub limit: usize,
}

/// The work of one endpoint.
#[derive(Debug, Default)]
struct Activity {
    /// The deliveries with a slot. The value is the start of the call, or `None` after the response, until the outcome
    /// is stored.
    in_flight: HashMap<DeliveryId, Option<Timestamp>>,
    /// The queue, if it may have more deliveries but no slot is free.
    full: Option<EndpointQueue>,
    /// The queue, if a claim returned fewer deliveries than there were free slots. Either the queue is empty, or other
    /// nodes have its slots. Another claim follows when no delivery of the endpoint is in flight.
    claim_again: Option<EndpointQueue>,
    /// The status of the last attempt that ended.
    last: Option<AttemptStatus>,
    /// `true` while the endpoint is being disabled. Claims then exclude its queue.
    is_disabling: bool,
}

/// The state of all queues at this node.
#[derive(Debug)]
pub(super) struct EndpointQueues {
    limits: DispatchLimits,
    active: HashMap<EndpointId, Activity>,
    /// The classes of endpoints. An endpoint without an entry is unknown.
    classes: HashMap<EndpointId, EndpointClass>,
    waiting: Waiting,
    /// The class that the next claim tries first.
    first: EndpointClass,
    /// The largest number of queues in the next claim. If the store could not read a row, the next claim has at most
    /// half of the failed claim's queues. Each successful claim doubles the number, up to `MAX_CLAIM_QUEUES`.
    width: usize,
    in_flight: usize,
}

impl EndpointQueues {
    pub(super) fn new(limits: DispatchLimits) -> Self {
        // With zero slots no event would be delivered.
        let (in_flight, per_endpoint) = (limits.in_flight.max(1), limits.per_endpoint.max(1));
        Self {
            limits: DispatchLimits { in_flight, per_endpoint, ..limits },
            active: HashMap::new(),
            classes: HashMap::new(),
            waiting: Waiting::default(),
            first: EndpointClass::Healthy,
            width: MAX_CLAIM_QUEUES,
            in_flight: 0,
        }
    }

    /// Adds a queue that may have due deliveries. The queue waits for a claim or for a free slot.
    pub(super) fn mark(&mut self, queue: EndpointQueue) {
        let room = self.free_slots(queue.endpoint);
        match self.active.get_mut(&queue.endpoint) {
            Some(active) if active.is_disabling => {}
            Some(active) if room == 0 => active.full = Some(queue),
            _ => self.waiting.push_back(self.class(queue.endpoint), queue),
        }
    }

    /// Returns the next claim. Returns `None` if no queue waits or no slot is free. The classes take turns.
    pub(super) fn next_claim(&mut self) -> Option<ClaimRequest> {
        let order @ [_, next, _] = self.first.in_cyclic_order();
        let request = order.into_iter().find_map(|class| self.claim_of(class));
        if request.is_some() {
            self.first = next;
        }
        request
    }

    fn claim_of(&mut self, class: EndpointClass) -> Option<ClaimRequest> {
        if self.waiting.is_empty(class) {
            return None;
        }
        let at_once = self.slots_of(class);
        let limit = match class {
            // While fewer than half of all slots are used, a healthy endpoint may use `per_endpoint` slots. Such a
            // claim ends when half of all slots are used.
            EndpointClass::Healthy if self.slots_to_half() > 0 => self.free_slots_for(class).min(self.slots_to_half()),
            EndpointClass::Healthy | EndpointClass::Unknown | EndpointClass::Slow => self.free_slots_for(class),
        };
        let (mut queues, mut free_slots) = (Vec::new(), Vec::new());
        while queues.len() < limit.min(self.width) {
            let Some(queue) = self.waiting.pop(class) else { break };
            let room = self.free_slots(queue.endpoint);
            if self.class(queue.endpoint) != class || room == 0 || self.is_disabling(&queue) {
                // The class or the free slots changed while the queue waited.
                self.mark(queue);
            } else {
                queues.push(queue);
                free_slots.push(room);
            }
        }
        (!queues.is_empty()).then_some(ClaimRequest { queues, free_slots, at_once, limit })
    }

    /// Assigns slots to claimed deliveries, and returns the deliveries to send. Two kinds of deliveries get no slot:
    /// those that are still in flight although their leases ended, and those beyond the free slots. Both are due again
    /// when their leases end.
    pub(super) fn on_claimed(
        &mut self,
        request: &ClaimRequest,
        got: Vec<ClaimedDelivery>,
        now: Timestamp,
    ) -> Vec<ClaimedDelivery> {
        self.width = self.width.saturating_mul(2).min(MAX_CLAIM_QUEUES);
        let is_cut = got.len() >= request.limit;
        let mut served: HashMap<EndpointId, usize> = HashMap::new();
        for one in &got {
            let count = served.entry(one.key.endpoint).or_default();
            *count = count.saturating_add(1);
        }
        let accepted: Vec<ClaimedDelivery> = got.into_iter().filter(|one| self.admit(one, now)).collect();
        let mut unserved = Vec::new();
        for (queue, had) in request.queues.iter().zip(&request.free_slots) {
            let (room, got) = (self.free_slots(queue.endpoint), served.get(&queue.endpoint).copied());
            // Slots that became free after the claim was made are not in `had`.
            let is_filled = got.is_some_and(|got| got >= *had);
            if let Some(active) = self.active.get_mut(&queue.endpoint) {
                let may_be_shared = room > 0 && !is_cut && !is_filled && active.in_flight.len() >= MIN_SHARED_IN_FLIGHT;
                active.full = (room == 0).then_some(*queue);
                active.claim_again = may_be_shared.then_some(*queue);
            }
            if room == 0 {
                continue;
            }
            if is_filled || is_cut && got.is_some() {
                self.waiting.push_back(self.class(queue.endpoint), *queue);
            } else if is_cut {
                unserved.push(*queue);
            }
        }
        self.push_all_front(unserved);
        accepted
    }

    /// Adds the queues of a failed claim again, before all other queues of their class.
    pub(super) fn retry(&mut self, request: ClaimRequest) {
        self.push_all_front(request.queues);
    }

    /// Halves the number of queues in a claim, because the store could not read a row. After repeated failures, the
    /// queue with the unreadable row is alone in its claim. That queue then waits for the next tick.
    pub(super) fn on_unreadable(&mut self, request: ClaimRequest) {
        self.width = request.queues.len().div_ceil(2).max(1);
        if request.queues.len() > 1 {
            self.retry(request);
        }
    }

    /// Classifies the endpoint after a call. Returns the status of the previous attempt at the endpoint, which may have
    /// ended before this delivery was claimed. Returns `None` if no previous attempt is recorded: when no delivery to
    /// an endpoint is in flight, its last status is removed.
    pub(super) fn on_attempt(
        &mut self,
        key: &DeliveryKey,
        status: AttemptStatus,
        (began_at, ended_at): (Timestamp, Timestamp),
    ) -> Option<AttemptStatus> {
        let class = match status {
            _ if is_slow(began_at, ended_at) || self.has_another_slow_call(key, ended_at) => EndpointClass::Slow,
            AttemptStatus::Succeeded => EndpointClass::Healthy,
            AttemptStatus::Failed => EndpointClass::Unknown,
        };
        self.set_class(key.endpoint, class);
        let active = self.active.get_mut(&key.endpoint)?;
        if let Some(began_at) = active.in_flight.get_mut(&key.id) {
            *began_at = None;
        }
        let last = active.last.replace(status);
        self.refill(key.endpoint);
        last
    }

    /// Frees the slot of a delivery whose outcome is stored or was lost.
    pub(super) fn release(&mut self, key: &DeliveryKey) {
        if let Some(active) = self.active.get_mut(&key.endpoint)
            && active.in_flight.remove(&key.id).is_some()
        {
            self.in_flight = self.in_flight.saturating_sub(1);
            let again = if active.in_flight.is_empty() { active.claim_again.take() } else { None };
            if let Some(queue) = again {
                self.mark(queue);
            }
            self.refill(key.endpoint);
            self.remove_if_idle(key.endpoint);
        }
    }

    /// Classifies the endpoints as slow that have a call of [`SLOW_CALL`] or longer in flight.
    pub(super) fn classify_slow(&mut self, now: Timestamp) {
        let slow = |began: &Option<Timestamp>| began.is_some_and(|began| is_slow(began, now));
        let slow = self.active.iter().filter(|(_, active)| active.in_flight.values().any(slow));
        for endpoint in slow.map(|(endpoint, _)| *endpoint).collect::<Vec<_>>() {
            self.set_class(endpoint, EndpointClass::Slow);
        }
    }

    /// Stops claims for an endpoint that is being disabled. Returns `false` if they were already stopped.
    pub(super) fn begin_disabling(&mut self, endpoint: EndpointId) -> bool {
        let active = self.active.entry(endpoint).or_default();
        active.full = None;
        !std::mem::replace(&mut active.is_disabling, true)
    }

    /// Permits claims again after the attempt to disable the endpoint. The next tick finds its due deliveries.
    pub(super) fn on_disabled(&mut self, endpoint: EndpointId) {
        if let Some(active) = self.active.get_mut(&endpoint) {
            active.is_disabling = false;
        }
        self.classes.remove(&endpoint);
        self.remove_if_idle(endpoint);
    }

    /// Puts the queues before all other queues of their class, in the given order.
    fn push_all_front(&mut self, queues: Vec<EndpointQueue>) {
        for queue in queues.into_iter().rev() {
            self.waiting.push_front(self.class(queue.endpoint), queue);
        }
    }

    fn admit(&mut self, one: &ClaimedDelivery, now: Timestamp) -> bool {
        let slots = usize::try_from(self.limits.per_endpoint).unwrap_or(usize::MAX);
        let active = self.active.entry(one.key.endpoint).or_default();
        // The store frees a slot when it stores the outcome, before this node receives the store's reply. Until that
        // reply, `in_flight` still contains the delivery. So only deliveries whose call has not ended are counted here.
        let calls = active.in_flight.values().flatten().count();
        let fits = calls < slots && self.in_flight < self.limits.in_flight;
        if !fits || active.in_flight.contains_key(&one.key.id) {
            return false;
        }
        active.in_flight.insert(one.key.id, Some(now));
        self.in_flight = self.in_flight.saturating_add(1);
        true
    }

    /// If a slot is free, adds the queue in `full` to the queues that wait for a claim.
    fn refill(&mut self, endpoint: EndpointId) {
        if self.free_slots(endpoint) > 0
            && let Some(queue) = self.active.get_mut(&endpoint).and_then(|active| active.full.take())
        {
            self.waiting.push_back(self.class(endpoint), queue);
        }
    }

    fn has_another_slow_call(&self, key: &DeliveryKey, now: Timestamp) -> bool {
        let others = self.active.get(&key.endpoint).into_iter().flat_map(|active| &active.in_flight);
        others.filter(|(id, _)| **id != key.id).any(|(_, began)| began.is_some_and(|began| is_slow(began, now)))
    }

    fn remove_if_idle(&mut self, endpoint: EndpointId) {
        if self.active.get(&endpoint).is_some_and(|active| active.in_flight.is_empty() && !active.is_disabling) {
            self.active.remove(&endpoint);
        }
    }

    fn is_disabling(&self, queue: &EndpointQueue) -> bool {
        self.active.get(&queue.endpoint).is_some_and(|active| active.is_disabling)
    }

    fn class(&self, endpoint: EndpointId) -> EndpointClass {
        self.classes.get(&endpoint).copied().unwrap_or(EndpointClass::Unknown)
    }

    fn set_class(&mut self, endpoint: EndpointId, class: EndpointClass) {
        if self.classes.len() >= MAX_CLASSES {
            self.classes.clear();
        }
        self.classes.insert(endpoint, class);
    }

    /// Returns the number of slots that one endpoint of the class may use.
    fn slots_of(&self, class: EndpointClass) -> u32 {
        let all = self.limits.per_endpoint;
        match class {
            EndpointClass::Healthy if self.slots_to_half() > 0 => all,
            EndpointClass::Healthy | EndpointClass::Slow => all.div_ceil(SLOT_DIVISOR),
            EndpointClass::Unknown => 1,
        }
    }

    /// Returns how many slots can still be used before half of all slots are used.
    const fn slots_to_half(&self) -> usize {
        self.limits.in_flight.div_ceil(2).saturating_sub(self.in_flight)
    }

    /// Returns the number of slots that the endpoints of the class can still use together.
    fn free_slots_for(&self, class: EndpointClass) -> usize {
        let all = self.limits.in_flight;
        let free = all.saturating_sub(self.in_flight);
        if class == EndpointClass::Healthy {
            return free;
        }
        let (mut unknown, mut slow) = (0_usize, 0_usize);
        for (endpoint, active) in &self.active {
            match self.class(*endpoint) {
                EndpointClass::Healthy => {}
                EndpointClass::Unknown => unknown = unknown.saturating_add(active.in_flight.len()),
                EndpointClass::Slow => slow = slow.saturating_add(active.in_flight.len()),
            }
        }
        let quarter = all.div_ceil(4);
        let share = match class {
            EndpointClass::Healthy | EndpointClass::Unknown => quarter.saturating_mul(2).saturating_sub(unknown),
            EndpointClass::Slow => quarter.saturating_sub(slow),
        };
        let together = quarter.saturating_mul(3).saturating_sub(unknown).saturating_sub(slow);
        free.min(share).min(together)
    }

    /// Returns the number of free slots of the endpoint.
    fn free_slots(&self, endpoint: EndpointId) -> usize {
        let slots = usize::try_from(self.slots_of(self.class(endpoint))).unwrap_or(usize::MAX);
        slots.saturating_sub(self.active.get(&endpoint).map_or(0, |active| active.in_flight.len()))
    }
}

/// Returns whether a call from `began_at` to `now` counts as slow.
fn is_slow(began_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(began_at) >= SLOW_CALL
}

#[cfg(test)]
mod tests;
