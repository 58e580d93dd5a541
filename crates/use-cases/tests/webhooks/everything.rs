//! With random failures, every event still reaches every active endpoint at least once. All deliveries of one event
//! have the same body.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::{DeliveryStatus, Endpoint};
use cais_ports::{AttemptError, Sent};
use cais_testkit::memory::StoredEvent;
use cais_use_cases::webhooks::dispatch::DispatchLimits;
use proptest::prelude::*;

use crate::bed::{TestBed, settle};
use crate::queue::{Failure, down};
use crate::receivers::{Answer, refused, taken};

/// A repeatable source of random numbers.
#[derive(Clone)]
struct RandomNumbers(Arc<Mutex<u64>>);

impl RandomNumbers {
    /// Returns a number below `sides`.
    fn below(&self, sides: u64) -> u64 {
        let mut state = self.0.lock().unwrap();
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB).rotate_left(31) % sides
    }

    fn answer(&self) -> Answer {
        Answer::Now(match self.below(6) {
            0 => refused(500),
            1 => Sent { status_code: None, error: Some(AttemptError::TimedOut), ..taken() },
            2 => Sent { retry_after: Some(jiff::SignedDuration::from_secs(90)), ..refused(429) },
            _ => taken(),
        })
    }

    fn failure(&self) -> Option<Failure> {
        match self.below(8) {
            0 => Some(Failure::Before(down())),
            1 => Some(Failure::After),
            _ => None,
        }
    }
}

async fn all_arrived(bed: &TestBed, endpoints: &[Endpoint], events: &[EventId]) -> bool {
    for endpoint in endpoints {
        let arrived = bed.deliveries(endpoint).await;
        let ended: HashSet<EventId> = arrived
            .iter()
            .filter(|delivery| delivery.status == DeliveryStatus::Succeeded)
            .map(|delivery| delivery.event)
            .collect();
        if arrived.len() != events.len() || !events.iter().all(|event| ended.contains(event)) {
            return false;
        }
    }
    true
}

async fn simulate(seed: u64) {
    let bed = TestBed::new().await;
    let random = RandomNumbers(Arc::new(Mutex::new(seed)));
    let mut endpoints = Vec::new();
    for _ in 0..=random.below(4) {
        endpoints.push(bed.endpoint().await);
    }
    let (of_claims, of_finishes) = (random.clone(), random.clone());
    bed.queue.claims_fail(move |_| of_claims.failure());
    bed.queue.finishes_fail(move |_| of_finishes.failure());
    let limits = DispatchLimits { in_flight: 6, per_endpoint: 3, ..DispatchLimits::default() };
    let mut nodes = vec![bed.dispatcher_with(limits), bed.dispatcher_without_hints()];
    let mut events = Vec::new();
    for _ in 0..12 {
        for endpoint in &endpoints {
            bed.receivers.script(&endpoint.url, [random.answer(), random.answer()]);
        }
        for _ in 0..=random.below(3) {
            events.push(bed.publish(EventType::ChargePaid).await.id);
        }
        bed.clock.advance(Duration::from_secs(random.below(40)));
        for node in &nodes {
            node.tick();
        }
        settle().await;
        if random.below(4) == 0 {
            nodes.swap_remove(0).kill().await;
            nodes.push(bed.dispatcher_with(limits));
        }
    }
    // All failures end, and some hours pass.
    bed.queue.claims_fail(|_| None);
    bed.queue.finishes_fail(|_| None);
    for _ in 0..200 {
        if all_arrived(&bed, &endpoints, &events).await {
            break;
        }
        bed.clock.advance(Duration::from_mins(30));
        for node in &nodes {
            node.tick();
        }
        settle().await;
    }
    assert!(all_arrived(&bed, &endpoints, &events).await, "seed {seed}: something did not arrive");
    for node in nodes {
        node.stop().await;
    }
    let mut bodies: HashMap<EventId, Vec<u8>> = HashMap::new();
    for call in bed.receivers.calls() {
        assert_eq!(*bodies.entry(call.id).or_insert_with(|| call.body.clone()), call.body, "seed {seed}: two bodies");
    }
    let body = |stored: &StoredEvent| (stored.event.id, bed.ports.representation.event(&stored.read()));
    let stored: HashMap<EventId, Vec<u8>> = bed.store.events(bed.account.id).iter().map(body).collect();
    assert_eq!(bodies, stored);
    for endpoint in &endpoints {
        assert!(bed.receivers.most_at_once(&endpoint.url) <= 8, "seed {seed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn random_failures_lose_no_event_and_keep_one_body_per_id(seed in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(simulate(seed));
    }
}
