//! Which lanes have something to do, and how much may be in flight for each: no receiver keeps the places that another one could use.
//!
//! What counts is how long a receiver keeps a place. An endpoint is *trusted* when it took the last delivery, *unproven* when this node has
//! not called it yet or it failed at once, and *doubtful* when it kept the last call waiting, or another that is under way. The unproven have
//! one place each, the doubtful have few each and a quarter of all together, and both have three quarters. So however many receivers hang,
//! those that answer are served from the rest, and those that were never called, or failed once, do not wait behind them. Nor do those that
//! answer keep one another waiting: once half of all places are taken, none gets more than few. All of that is about this node; over all
//! nodes the store lets no endpoint have more than its places.

use std::collections::HashMap;

use cais_domain::ids::{DeliveryId, EndpointId};
use cais_ports::{ClaimedDelivery, DeliveryKey, Lane};
use jiff::{SignedDuration, Timestamp};

use super::DispatchLimits;
use super::attempt::Turn;
use queue::{Standing, Waiting};

mod queue;

/// How long a receiver may take before it is doubtful; far more than one that works takes.
const SLOW: SignedDuration = SignedDuration::from_secs(2);
/// How many of its places an endpoint has when it has few: one of so many.
const FEW: u32 = 4;
/// From how many in flight on there may be a backlog that other nodes work on as well; one event alone is no backlog.
const BURST: usize = 2;
/// How many lanes one claim names at most.
const WIDEST: usize = 128;
/// Of how many endpoints it is remembered how they answer; then all are unproven again.
const REMEMBERED: usize = 65_536;

/// What is to be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pick {
    /// From these lanes.
    pub lanes: Vec<Lane>,
    /// How many places each of them had free then, as far as this node knows.
    rooms: Vec<usize>,
    /// How many of each.
    pub per_endpoint: u32,
    /// How many at most.
    pub limit: usize,
}

/// An endpoint with which something is under way.
#[derive(Debug, Default)]
struct Known {
    /// What is in flight, and since when its receiver is called; `None` once it answered, until that is written down.
    in_flight: HashMap<DeliveryId, Option<Timestamp>>,
    /// Its lane, when there may be more but no place is free.
    full: Option<Lane>,
    /// Its lane, when it gave less than it had places for: either there is no more, or other nodes had those places. It is asked once
    /// more when nothing is in flight.
    ask_again: Option<Lane>,
    /// How the last call ended.
    last: Option<Turn>,
    /// It is being disabled: nothing more is claimed.
    ending: bool,
}

/// All lanes of which this node knows something.
#[derive(Debug)]
pub(super) struct Lanes {
    limits: DispatchLimits,
    known: HashMap<EndpointId, Known>,
    /// How they answer; those that are missing are unproven.
    standings: HashMap<EndpointId, Standing>,
    waiting: Waiting,
    /// Who has the first choice of the next claim.
    first: Standing,
    /// How many lanes a claim names; fewer after one that the store could not read.
    width: usize,
    in_flight: usize,
}

impl Lanes {
    pub(super) fn new(limits: DispatchLimits) -> Self {
        // Without a place nothing would ever be delivered.
        let (in_flight, per_endpoint) = (limits.in_flight.max(1), limits.per_endpoint.max(1));
        Self {
            limits: DispatchLimits { in_flight, per_endpoint, ..limits },
            known: HashMap::new(),
            standings: HashMap::new(),
            waiting: Waiting::default(),
            first: Standing::Trusted,
            width: WIDEST,
            in_flight: 0,
        }
    }

    /// There may be something to do on the lane.
    pub(super) fn mark(&mut self, lane: Lane) {
        let room = self.room(lane.endpoint);
        match self.known.get_mut(&lane.endpoint) {
            Some(known) if known.ending => {}
            Some(known) if room == 0 => known.full = Some(lane),
            _ => self.waiting.push_back(self.standing(lane.endpoint), lane),
        }
    }

    /// What to claim now; `None` when there is nothing to do, or no place.
    pub(super) fn pick(&mut self) -> Option<Pick> {
        let order @ [_, next, _] = self.first.and_others();
        let pick = order.into_iter().find_map(|standing| self.pick_of(standing));
        if pick.is_some() {
            self.first = next;
        }
        pick
    }

    fn pick_of(&mut self, standing: Standing) -> Option<Pick> {
        if self.waiting.is_empty(standing) {
            return None;
        }
        let per_endpoint = self.places_of(standing);
        let limit = match standing {
            // Up to the half of the house that is for whoever comes first.
            Standing::Trusted if self.half_left() > 0 => self.places_for(standing).min(self.half_left()),
            Standing::Trusted | Standing::Unproven | Standing::Doubtful => self.places_for(standing),
        };
        let (mut lanes, mut rooms) = (Vec::new(), Vec::new());
        while lanes.len() < limit.min(self.width) {
            let Some(lane) = self.waiting.pop(standing) else { break };
            let room = self.room(lane.endpoint);
            if self.standing(lane.endpoint) != standing || room == 0 || self.is_ending(&lane) {
                // It changed while it waited.
                self.mark(lane);
            } else {
                lanes.push(lane);
                rooms.push(room);
            }
        }
        (!lanes.is_empty()).then_some(Pick { lanes, rooms, per_endpoint, limit })
    }

    /// What was claimed; returned is what is to be sent: not what is in flight already, because its lease is over, and never more than
    /// there are places. The rest comes back by itself.
    pub(super) fn claimed(&mut self, pick: &Pick, got: Vec<ClaimedDelivery>, now: Timestamp) -> Vec<ClaimedDelivery> {
        self.width = self.width.saturating_mul(2).min(WIDEST);
        let is_cut = got.len() >= pick.limit;
        let mut served: HashMap<EndpointId, usize> = HashMap::new();
        for one in &got {
            let count = served.entry(one.key.endpoint).or_default();
            *count = count.saturating_add(1);
        }
        let accepted: Vec<ClaimedDelivery> = got.into_iter().filter(|one| self.admit(one, now)).collect();
        let mut unserved = Vec::new();
        for (lane, had) in pick.lanes.iter().zip(&pick.rooms) {
            let (room, got) = (self.room(lane.endpoint), served.get(&lane.endpoint).copied());
            // Places that became free while the claim was under way are not known to it.
            let is_filled = got.is_some_and(|got| got >= *had);
            if let Some(known) = self.known.get_mut(&lane.endpoint) {
                let may_be_shared = room > 0 && !is_cut && !is_filled && known.in_flight.len() >= BURST;
                known.full = (room == 0).then_some(*lane);
                known.ask_again = may_be_shared.then_some(*lane);
            }
            if room == 0 {
                continue;
            }
            if is_filled || is_cut && got.is_some() {
                self.waiting.push_back(self.standing(lane.endpoint), *lane);
            } else if is_cut {
                unserved.push(*lane);
            }
        }
        self.put_first(unserved);
        accepted
    }

    /// Nothing is known to have been claimed: the lanes wait again, before the others.
    pub(super) fn put_back(&mut self, pick: Pick) {
        self.put_first(pick.lanes);
    }

    /// The store cannot read one of these: halves are claimed, until that one is alone. It waits for the next tick.
    pub(super) fn unreadable(&mut self, pick: Pick) {
        self.width = pick.lanes.len().div_ceil(2).max(1);
        if pick.lanes.len() > 1 {
            self.put_back(pick);
        }
    }

    /// The receiver answered; returned is how the call before ended, if it was over while this one was in flight or claimed.
    pub(super) fn answered(
        &mut self,
        key: &DeliveryKey,
        turn: Turn,
        (began_at, ended_at): (Timestamp, Timestamp),
    ) -> Option<Turn> {
        let standing = match turn {
            _ if is_slow(began_at, ended_at) || self.keeps_another_waiting(key, ended_at) => Standing::Doubtful,
            Turn::Succeeded => Standing::Trusted,
            Turn::Failed => Standing::Unproven,
        };
        self.remember(key.endpoint, standing);
        let known = self.known.get_mut(&key.endpoint)?;
        if let Some(began_at) = known.in_flight.get_mut(&key.id) {
            *began_at = None;
        }
        let last = known.last.replace(turn);
        self.refill(key.endpoint);
        last
    }

    /// The outcome is written down, or given up: its place is free.
    pub(super) fn free(&mut self, key: &DeliveryKey) {
        if let Some(known) = self.known.get_mut(&key.endpoint)
            && known.in_flight.remove(&key.id).is_some()
        {
            self.in_flight = self.in_flight.saturating_sub(1);
            let again = if known.in_flight.is_empty() { known.ask_again.take() } else { None };
            if let Some(lane) = again {
                self.mark(lane);
            }
            self.refill(key.endpoint);
            self.forget(key.endpoint);
        }
    }

    /// Receivers that keep a call waiting are doubtful.
    pub(super) fn doubt_slow(&mut self, now: Timestamp) {
        let slow = |began: &Option<Timestamp>| began.is_some_and(|began| is_slow(began, now));
        let slow = self.known.iter().filter(|(_, known)| known.in_flight.values().any(slow));
        for endpoint in slow.map(|(endpoint, _)| *endpoint).collect::<Vec<_>>() {
            self.remember(endpoint, Standing::Doubtful);
        }
    }

    /// The endpoint is about to be disabled; whether that is news.
    pub(super) fn end(&mut self, endpoint: EndpointId) -> bool {
        let known = self.known.entry(endpoint).or_default();
        known.full = None;
        !std::mem::replace(&mut known.ending, true)
    }

    /// It is disabled, or is not; what is due by then is found at a tick.
    pub(super) fn ended(&mut self, endpoint: EndpointId) {
        if let Some(known) = self.known.get_mut(&endpoint) {
            known.ending = false;
        }
        self.standings.remove(&endpoint);
        self.forget(endpoint);
    }

    /// These have their turn next, in this order.
    fn put_first(&mut self, lanes: Vec<Lane>) {
        for lane in lanes.into_iter().rev() {
            self.waiting.push_front(self.standing(lane.endpoint), lane);
        }
    }

    fn admit(&mut self, one: &ClaimedDelivery, now: Timestamp) -> bool {
        let places = usize::try_from(self.limits.per_endpoint).unwrap_or(usize::MAX);
        let known = self.known.entry(one.key.endpoint).or_default();
        // A call that is over may be written down already, and its place given to another, before this node hears of that.
        let calls = known.in_flight.values().flatten().count();
        let fits = calls < places && self.in_flight < self.limits.in_flight;
        if !fits || known.in_flight.contains_key(&one.key.id) {
            return false;
        }
        known.in_flight.insert(one.key.id, Some(now));
        self.in_flight = self.in_flight.saturating_add(1);
        true
    }

    /// A lane that was full waits for its turn again once there is a place.
    fn refill(&mut self, endpoint: EndpointId) {
        if self.room(endpoint) > 0
            && let Some(lane) = self.known.get_mut(&endpoint).and_then(|known| known.full.take())
        {
            self.waiting.push_back(self.standing(endpoint), lane);
        }
    }

    fn keeps_another_waiting(&self, key: &DeliveryKey, now: Timestamp) -> bool {
        let others = self.known.get(&key.endpoint).into_iter().flat_map(|known| &known.in_flight);
        others.filter(|(id, _)| **id != key.id).any(|(_, began)| began.is_some_and(|began| is_slow(began, now)))
    }

    fn forget(&mut self, endpoint: EndpointId) {
        if self.known.get(&endpoint).is_some_and(|known| known.in_flight.is_empty() && !known.ending) {
            self.known.remove(&endpoint);
        }
    }

    fn is_ending(&self, lane: &Lane) -> bool {
        self.known.get(&lane.endpoint).is_some_and(|known| known.ending)
    }

    fn standing(&self, endpoint: EndpointId) -> Standing {
        self.standings.get(&endpoint).copied().unwrap_or(Standing::Unproven)
    }

    fn remember(&mut self, endpoint: EndpointId, standing: Standing) {
        if self.standings.len() >= REMEMBERED {
            self.standings.clear();
        }
        self.standings.insert(endpoint, standing);
    }

    /// How many may be in flight for one endpoint.
    fn places_of(&self, standing: Standing) -> u32 {
        let all = self.limits.per_endpoint;
        match standing {
            Standing::Trusted if self.half_left() > 0 => all,
            Standing::Trusted | Standing::Doubtful => all.div_ceil(FEW),
            Standing::Unproven => 1,
        }
    }

    /// How many more may be in flight before half of all places are taken.
    const fn half_left(&self) -> usize {
        self.limits.in_flight.div_ceil(2).saturating_sub(self.in_flight)
    }

    /// How many more may be in flight for all endpoints of that standing together.
    fn places_for(&self, standing: Standing) -> usize {
        let all = self.limits.in_flight;
        let free = all.saturating_sub(self.in_flight);
        if standing == Standing::Trusted {
            return free;
        }
        let (mut unproven, mut doubtful) = (0_usize, 0_usize);
        for (endpoint, known) in &self.known {
            match self.standing(*endpoint) {
                Standing::Trusted => {}
                Standing::Unproven => unproven = unproven.saturating_add(known.in_flight.len()),
                Standing::Doubtful => doubtful = doubtful.saturating_add(known.in_flight.len()),
            }
        }
        let quarter = all.div_ceil(4);
        let share = match standing {
            Standing::Trusted | Standing::Unproven => quarter.saturating_mul(2).saturating_sub(unproven),
            Standing::Doubtful => quarter.saturating_sub(doubtful),
        };
        let together = quarter.saturating_mul(3).saturating_sub(unproven).saturating_sub(doubtful);
        free.min(share).min(together)
    }

    /// How many more may be in flight for the endpoint.
    fn room(&self, endpoint: EndpointId) -> usize {
        let places = usize::try_from(self.places_of(self.standing(endpoint))).unwrap_or(usize::MAX);
        places.saturating_sub(self.known.get(&endpoint).map_or(0, |known| known.in_flight.len()))
    }
}

/// Whether a call that began then and is not over before `now` keeps its place for too long.
fn is_slow(began_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(began_at) >= SLOW
}

#[cfg(test)]
mod tests;
