//! Tests the choice of queues and their slots.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::needless_for_each,
    reason = "a test fails by panicking"
)]

use cais_testkit::builders::start;
use jiff::ToSpan as _;

use super::*;
use crate::webhooks::dispatch::samples::Receiver;

/// Returns the start and the end of a fast call.
fn in_time() -> (Timestamp, Timestamp) {
    (start(), start() + 20.milliseconds())
}

/// Returns the start and the end of a slow call.
fn too_slow() -> (Timestamp, Timestamp) {
    (start(), start() + SLOW_CALL)
}

fn queues_of(in_flight: usize) -> EndpointQueues {
    EndpointQueues::new(DispatchLimits { in_flight, ..DispatchLimits::default() })
}

/// Completes a claim with the deliveries that a store would return. `due` has the number of due deliveries of each
/// receiver. Returns the deliveries that received a slot.
fn claim(queues: &mut EndpointQueues, request: &ClaimRequest, due: &[(&Receiver, usize)]) -> Vec<ClaimedDelivery> {
    let mut got = Vec::new();
    for queue in &request.queues {
        let (receiver, count) = due.iter().find(|(receiver, _)| receiver.queue() == *queue).unwrap();
        let slots = usize::try_from(request.at_once).unwrap();
        let used = queues.active.get(&queue.endpoint).map_or(0, |active| active.in_flight.len());
        let room = slots.saturating_sub(used).min(request.limit - got.len());
        got.extend(receiver.deliveries(room.min(*count)));
    }
    queues.on_claimed(request, got, start())
}

/// Completes all further claims as if the store had no due deliveries.
fn nothing_more(queues: &mut EndpointQueues) {
    while let Some(request) = queues.next_claim() {
        queues.on_claimed(&request, Vec::new(), start());
    }
}

/// Returns a receiver that has accepted one delivery.
fn healthy(queues: &mut EndpointQueues) -> Receiver {
    let receiver = Receiver::new();
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let one = claim(queues, &request, &[(&receiver, 1)]).remove(0);
    queues.on_attempt(&one.key, AttemptStatus::Succeeded, in_time());
    queues.release(&one.key);
    nothing_more(queues);
    assert_eq!(queues.in_flight, 0);
    receiver
}

/// Returns a receiver whose last call was slow.
fn slow(queues: &mut EndpointQueues) -> Receiver {
    let receiver = Receiver::new();
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let one = claim(queues, &request, &[(&receiver, 1)]).remove(0);
    queues.on_attempt(&one.key, AttemptStatus::Failed, too_slow());
    queues.release(&one.key);
    nothing_more(queues);
    receiver
}

#[test]
fn queue_is_claimed_once_per_mark() {
    let (mut queues, receiver) = (queues_of(256), Receiver::new());
    assert_eq!(queues.next_claim(), None);
    queues.mark(receiver.queue());
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    assert_eq!(request.queues, [receiver.queue()]);
    assert_eq!(queues.next_claim(), None);

    queues.mark(receiver.queue());
    claim(&mut queues, &request, &[(&receiver, 0)]);
    assert!(queues.next_claim().is_some(), "the queue may have deliveries that the claim did not read");
    assert_eq!(queues.next_claim(), None);
}

#[test]
fn healthy_endpoint_gets_all_its_slots_and_others_fewer() {
    let mut queues = queues_of(256);
    let (good, bad, new) = (healthy(&mut queues), slow(&mut queues), Receiver::new());
    for receiver in [&good, &bad, &new] {
        queues.mark(receiver.queue());
    }
    let mut slots = HashMap::new();
    while let Some(request) = queues.next_claim() {
        slots.insert(request.queues[0], (request.at_once, request.limit));
    }
    // For each queue: the slots of its endpoint, and the largest number of deliveries of the claim.
    let expected = HashMap::from([(good.queue(), (8, 128)), (new.queue(), (1, 128)), (bad.queue(), (2, 64))]);
    assert_eq!(slots, expected);
}

#[test]
fn full_queue_is_claimed_again_when_a_slot_is_free() {
    let mut queues = queues_of(256);
    let receiver = healthy(&mut queues);
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let under_way = claim(&mut queues, &request, &[(&receiver, 100)]);
    assert_eq!(under_way.len(), 8);
    assert_eq!(queues.next_claim(), None, "the queue uses all its slots");
    queues.mark(receiver.queue());
    assert_eq!(queues.next_claim(), None, "a mark gives no slot");

    queues.on_attempt(&under_way[0].key, AttemptStatus::Succeeded, in_time());
    assert_eq!(queues.next_claim(), None, "the slot is used until the outcome is stored");
    queues.release(&under_way[0].key);
    assert_eq!(queues.next_claim().unwrap().queues, [receiver.queue()]);
}

#[test]
fn queue_that_filled_its_free_slots_is_claimed_again() {
    let mut queues = queues_of(256);
    let receiver = healthy(&mut queues);
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let under_way = claim(&mut queues, &request, &[(&receiver, 100)]);
    queues.release(&under_way[0].key);
    let request = queues.next_claim().unwrap();
    // While the claim is in flight, the other deliveries end. The store returns one delivery, because one slot was free
    // when the claim was made.
    under_way.iter().skip(1).for_each(|one| queues.release(&one.key));
    assert_eq!(queues.on_claimed(&request, receiver.deliveries(1), start()).len(), 1);
    assert_eq!(queues.next_claim().unwrap().queues, [receiver.queue()]);
}

#[test]
fn slow_endpoints_leave_slots_to_healthy_and_unknown_ones() {
    let mut queues = queues_of(16);
    let good = [healthy(&mut queues), healthy(&mut queues)];
    let bad: Vec<Receiver> = (0..20).map(|_| slow(&mut queues)).collect();
    let new: Vec<Receiver> = (0..20).map(|_| Receiver::new()).collect();
    let due: Vec<(&Receiver, usize)> = bad.iter().chain(&new).chain(&good).map(|receiver| (receiver, 50)).collect();
    let claim_all = |queues: &mut EndpointQueues, receivers: &[Receiver]| {
        receivers.iter().for_each(|receiver| queues.mark(receiver.queue()));
        let mut under_way = Vec::new();
        while let Some(request) = queues.next_claim() {
            under_way.extend(claim(queues, &request, &due));
        }
        under_way
    };
    assert_eq!(claim_all(&mut queues, &bad).len(), 4, "slow endpoints have a quarter of the slots");
    let first = claim_all(&mut queues, &new);
    assert_eq!(first.len(), 8, "unknown endpoints have half of the slots, one each");
    // The eight calls hang, so their endpoints become slow. The other unknown endpoints get no slots, because slow and
    // unknown endpoints together already use three quarters.
    queues.classify_slow(start() + 2.seconds());
    assert_eq!(claim_all(&mut queues, &new), []);
    assert_eq!(claim_all(&mut queues, &good).len(), 4, "the last quarter is for healthy endpoints");
    assert_eq!((queues.in_flight, queues.next_claim()), (16, None), "all slots are used");
    for one in &first {
        queues.on_attempt(&one.key, AttemptStatus::Failed, in_time());
        queues.release(&one.key);
    }
    assert_eq!(claim_all(&mut queues, &[]).len(), 8, "the freed slots go to queues that waited");
}

#[test]
fn healthy_endpoint_is_reclassified_by_failure_or_slow_call() {
    let mut queues = queues_of(256);
    let (failing, slow) = (healthy(&mut queues), healthy(&mut queues));
    for receiver in [&failing, &slow] {
        queues.mark(receiver.queue());
    }
    let request = queues.next_claim().unwrap();
    let under_way = claim(&mut queues, &request, &[(&failing, 1), (&slow, 1)]);
    queues.on_attempt(&under_way[0].key, AttemptStatus::Failed, in_time());
    assert_eq!(queues.class(failing.0.id), EndpointClass::Unknown, "a fast failure is not slow");

    queues.classify_slow(start() + 1.second());
    assert_eq!(queues.class(slow.0.id), EndpointClass::Healthy);
    queues.classify_slow(start() + 2.seconds());
    assert_eq!(queues.class(slow.0.id), EndpointClass::Slow);
    queues.on_attempt(&under_way[1].key, AttemptStatus::Succeeded, in_time());
    queues.classify_slow(start() + 9.seconds());
    assert_eq!(queues.class(slow.0.id), EndpointClass::Healthy, "the call has ended; only the store is slow");

    queues.mark(slow.queue());
    let request = queues.next_claim().unwrap();
    let late = claim(&mut queues, &request, &[(&slow, 1)]).remove(0);
    queues.on_attempt(&late.key, AttemptStatus::Succeeded, too_slow());
    assert_eq!(queues.class(slow.0.id), EndpointClass::Slow, "the call was slow, although it succeeded");
}

#[test]
fn endpoint_stays_slow_while_another_call_is_slow() {
    let mut queues = queues_of(256);
    let receiver = healthy(&mut queues);
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let under_way = claim(&mut queues, &request, &[(&receiver, 2)]);
    let late = start() + 3.seconds();
    queues.on_attempt(&under_way[0].key, AttemptStatus::Succeeded, (late, late + 5.milliseconds()));
    assert_eq!(queues.class(receiver.0.id), EndpointClass::Slow);
    queues.release(&under_way[0].key);
    queues.release(&under_way[1].key);
    nothing_more(&mut queues);
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let again = claim(&mut queues, &request, &[(&receiver, 1)]).remove(0);
    queues.on_attempt(&again.key, AttemptStatus::Succeeded, (late, late + 5.milliseconds()));
    assert_eq!(queues.class(receiver.0.id), EndpointClass::Healthy);
}

#[test]
fn failing_endpoint_does_not_wait_for_slow_ones() {
    let mut queues = queues_of(64);
    let hanging: Vec<Receiver> = (0..100).map(|_| slow(&mut queues)).collect();
    let failing = healthy(&mut queues);
    queues.mark(failing.queue());
    let request = queues.next_claim().unwrap();
    let one = claim(&mut queues, &request, &[(&failing, 1)]).remove(0);
    queues.on_attempt(&one.key, AttemptStatus::Failed, in_time());
    queues.release(&one.key);

    hanging.iter().chain([&failing]).for_each(|receiver| queues.mark(receiver.queue()));
    let due: Vec<(&Receiver, usize)> = hanging.iter().chain([&failing]).map(|receiver| (receiver, 50)).collect();
    let mut served = Vec::new();
    while let Some(request) = queues.next_claim() {
        served.extend(claim(&mut queues, &request, &due).iter().map(|one| one.key.endpoint));
    }
    assert_eq!(served.iter().filter(|endpoint| **endpoint == failing.0.id).count(), 1);
    assert_eq!(served.len(), 16 + 1, "slow endpoints have a quarter of the slots");
}

#[test]
fn healthy_endpoints_share_the_second_half_of_the_slots() {
    let mut queues = queues_of(64);
    let receivers: Vec<Receiver> = (0..12).map(|_| healthy(&mut queues)).collect();
    let due: Vec<(&Receiver, usize)> = receivers.iter().map(|receiver| (receiver, 50)).collect();
    receivers.iter().for_each(|receiver| queues.mark(receiver.queue()));
    let mut under_way = Vec::new();
    while let Some(request) = queues.next_claim() {
        under_way.extend(claim(&mut queues, &request, &due));
    }
    let counts: Vec<usize> = receivers
        .iter()
        .map(|receiver| under_way.iter().filter(|one| one.key.endpoint == receiver.0.id).count())
        .collect();
    // Each endpoint has 8 slots until half of all slots are used, and then 2.
    assert_eq!(counts, [8, 8, 8, 8, 2, 2, 2, 2, 2, 2, 2, 2]);

    under_way.iter().for_each(|one| queues.release(&one.key));
    assert_eq!(queues.next_claim().unwrap().at_once, 8, "all slots are free");
}

#[test]
fn queues_that_a_full_claim_did_not_reach_are_next() {
    let mut queues = queues_of(16);
    let receivers: Vec<Receiver> = (0..6).map(|_| healthy(&mut queues)).collect();
    let due: Vec<(&Receiver, usize)> = receivers.iter().zip([3, 2, 2, 2, 1, 1]).collect();
    for receiver in &receivers {
        queues.mark(receiver.queue());
    }
    let request = queues.next_claim().unwrap();
    assert_eq!(request.queues.len(), 6);
    let under_way = claim(&mut queues, &request, &due);
    for one in &under_way {
        queues.release(&one.key);
    }
    let next = queues.next_claim().unwrap();
    // The claim ended at its limit of eight deliveries. Queues 4 and 5 were not reached, so they are first. Queue 3
    // received one of its two deliveries. Queues 0 to 2 had no free slot until the releases.
    let expected: Vec<EndpointQueue> =
        [4, 5, 3, 0, 1, 2].iter().map(|place: &usize| receivers[*place].queue()).collect();
    assert_eq!(next.queues, expected);
}

#[test]
fn delivery_in_flight_is_not_sent_a_second_time() {
    let mut queues = queues_of(256);
    let receiver = healthy(&mut queues);
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let mut under_way = claim(&mut queues, &request, &[(&receiver, 3)]);
    // The clock jumped, so the leases have ended. The store returns the same deliveries and further ones.
    let more = receiver.deliveries(6);
    let again: Vec<ClaimedDelivery> = under_way.iter().chain(&more).cloned().collect();
    assert_eq!(queues.on_claimed(&request, again, start()), more[..5], "as many as there are free slots");
    assert_eq!(queues.in_flight, 8);
    under_way.extend(more);
    under_way.iter().for_each(|one| queues.release(&one.key));
    assert_eq!((queues.in_flight, queues.active.len()), (0, 0), "finished deliveries leave no state");
}

#[test]
fn stored_outcomes_free_slots_before_their_reply_arrives() {
    let mut queues = queues_of(256);
    let receiver = healthy(&mut queues);
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let under_way = claim(&mut queues, &request, &[(&receiver, 8)]);
    for one in &under_way[..3] {
        queues.on_attempt(&one.key, AttemptStatus::Succeeded, in_time());
    }
    queues.release(&under_way[0].key);
    let request = queues.next_claim().unwrap();
    // Three outcomes are stored, but this node has received only one confirmation.
    let more = receiver.deliveries(4);
    assert_eq!(queues.on_claimed(&request, more.clone(), start()), more[..3], "never more calls than slots");
}

#[test]
fn endpoint_that_is_being_disabled_is_not_claimed() {
    let (mut queues, receiver) = (queues_of(256), Receiver::new());
    queues.mark(receiver.queue());
    assert!(queues.begin_disabling(receiver.0.id));
    assert!(!queues.begin_disabling(receiver.0.id), "its claims are already stopped");
    assert_eq!(queues.next_claim(), None, "a queue that already waits is not claimed either");
    queues.mark(receiver.queue());
    assert_eq!(queues.next_claim(), None);
    queues.on_disabled(receiver.0.id);
    queues.mark(receiver.queue());
    assert!(queues.next_claim().is_some());
}

#[test]
fn unreadable_queue_is_isolated_by_halves() {
    let mut queues = queues_of(256);
    let receivers: Vec<Receiver> = (0..37).map(|_| Receiver::new()).collect();
    let due: Vec<(&Receiver, usize)> = receivers.iter().map(|receiver| (receiver, 1)).collect();
    receivers.iter().for_each(|receiver| queues.mark(receiver.queue()));
    let damaged = receivers[20].queue();
    let (mut served, mut rounds) = (0, 0);
    while let Some(request) = queues.next_claim() {
        rounds += 1;
        if request.queues.contains(&damaged) {
            queues.on_unreadable(request);
        } else {
            served += claim(&mut queues, &request, &due).len();
        }
    }
    assert_eq!(served, 36);
    assert!(rounds < 40, "{rounds} rounds");
    queues.mark(damaged);
    assert!(queues.next_claim().is_some(), "after a mark the queue is claimed again");
}

#[test]
fn last_attempt_is_kept_while_deliveries_are_in_flight() {
    let mut queues = queues_of(256);
    let receiver = healthy(&mut queues);
    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let under_way = claim(&mut queues, &request, &[(&receiver, 2)]);
    assert_eq!(queues.on_attempt(&under_way[0].key, AttemptStatus::Failed, in_time()), None);
    queues.release(&under_way[0].key);
    assert_eq!(queues.on_attempt(&under_way[1].key, AttemptStatus::Succeeded, in_time()), Some(AttemptStatus::Failed));
    queues.release(&under_way[1].key);

    queues.mark(receiver.queue());
    let request = queues.next_claim().unwrap();
    let under_way = claim(&mut queues, &request, &[(&receiver, 1)]);
    assert_eq!(
        queues.on_attempt(&under_way[0].key, AttemptStatus::Failed, in_time()),
        None,
        "without a delivery in flight, the last status is removed"
    );
}

#[test]
fn queue_with_fewer_deliveries_than_slots_is_claimed_once_more() {
    let mut queues = queues_of(256);
    let receiver = healthy(&mut queues);
    for (given, asked_again) in [(1, false), (3, true)] {
        queues.mark(receiver.queue());
        let request = queues.next_claim().unwrap();
        // The claim returns fewer deliveries than there are slots. With one delivery, the queue is assumed to be empty.
        // With three, another node may use the other slots, so one more claim follows.
        for one in queues.on_claimed(&request, receiver.deliveries(given), start()) {
            assert_eq!(queues.next_claim(), None);
            queues.release(&one.key);
        }
        let again = queues.next_claim();
        assert_eq!(again.is_some(), asked_again, "{given}");
        if let Some(request) = again {
            queues.on_claimed(&request, Vec::new(), start());
            assert_eq!(queues.next_claim(), None, "one further claim");
        }
    }
}
