//! Which lanes are claimed, and how many places each gets.
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

/// When a call began and ended to a receiver that works.
fn in_time() -> (Timestamp, Timestamp) {
    (start(), start() + 20.milliseconds())
}

/// When one was over of a receiver that does not.
fn too_slow() -> (Timestamp, Timestamp) {
    (start(), start() + SLOW)
}

fn lanes(in_flight: usize) -> Lanes {
    Lanes::new(DispatchLimits { in_flight, ..DispatchLimits::default() })
}

/// Everything due of that receiver is claimed, as the store would.
fn claim(lanes: &mut Lanes, pick: &Pick, due: &[(&Receiver, usize)]) -> Vec<ClaimedDelivery> {
    let mut got = Vec::new();
    for lane in &pick.lanes {
        let (receiver, count) = due.iter().find(|(receiver, _)| receiver.lane() == *lane).unwrap();
        let places = usize::try_from(pick.per_endpoint).unwrap();
        let taken = lanes.known.get(&lane.endpoint).map_or(0, |known| known.in_flight.len());
        let room = places.saturating_sub(taken).min(pick.limit - got.len());
        got.extend(receiver.deliveries(room.min(*count)));
    }
    lanes.claimed(pick, got, start())
}

/// It had one place, and is asked whether there is more: there is not.
fn nothing_more(lanes: &mut Lanes) {
    while let Some(pick) = lanes.pick() {
        lanes.claimed(&pick, Vec::new(), start());
    }
}

/// A receiver that took one delivery.
fn trusted(lanes: &mut Lanes) -> Receiver {
    let receiver = Receiver::new();
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let one = claim(lanes, &pick, &[(&receiver, 1)]).remove(0);
    lanes.answered(&one.key, Turn::Succeeded, in_time());
    lanes.free(&one.key);
    nothing_more(lanes);
    assert_eq!(lanes.in_flight, 0);
    receiver
}

/// A receiver that kept one delivery waiting.
fn doubtful(lanes: &mut Lanes) -> Receiver {
    let receiver = Receiver::new();
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let one = claim(lanes, &pick, &[(&receiver, 1)]).remove(0);
    lanes.answered(&one.key, Turn::Failed, too_slow());
    lanes.free(&one.key);
    nothing_more(lanes);
    receiver
}

#[test]
fn a_lane_is_claimed_once_for_each_time_it_is_marked() {
    let (mut lanes, receiver) = (lanes(256), Receiver::new());
    assert_eq!(lanes.pick(), None);
    lanes.mark(receiver.lane());
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    assert_eq!(pick.lanes, [receiver.lane()]);
    assert_eq!(lanes.pick(), None);

    lanes.mark(receiver.lane());
    claim(&mut lanes, &pick, &[(&receiver, 0)]);
    assert!(lanes.pick().is_some(), "marked while it was claimed: the claim may not have seen it");
    assert_eq!(lanes.pick(), None);
}

#[test]
fn a_receiver_that_answers_gets_all_its_places_and_others_get_fewer() {
    let mut lanes = lanes(256);
    let (good, bad, new) = (trusted(&mut lanes), doubtful(&mut lanes), Receiver::new());
    for receiver in [&good, &bad, &new] {
        lanes.mark(receiver.lane());
    }
    let mut places = HashMap::new();
    while let Some(pick) = lanes.pick() {
        places.insert(pick.lanes[0], (pick.per_endpoint, pick.limit));
    }
    let expected = HashMap::from([(good.lane(), (8, 128)), (new.lane(), (1, 128)), (bad.lane(), (2, 64))]);
    assert_eq!(places, expected);
}

#[test]
fn a_full_lane_is_claimed_again_when_a_place_is_free() {
    let mut lanes = lanes(256);
    let receiver = trusted(&mut lanes);
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let under_way = claim(&mut lanes, &pick, &[(&receiver, 100)]);
    assert_eq!(under_way.len(), 8);
    assert_eq!(lanes.pick(), None, "it is full");
    lanes.mark(receiver.lane());
    assert_eq!(lanes.pick(), None, "a mark does not change that");

    lanes.answered(&under_way[0].key, Turn::Succeeded, in_time());
    assert_eq!(lanes.pick(), None, "the store still counts it");
    lanes.free(&under_way[0].key);
    assert_eq!(lanes.pick().unwrap().lanes, [receiver.lane()]);
}

#[test]
fn a_lane_that_filled_the_places_it_had_is_claimed_again_although_more_are_free_by_then() {
    let mut lanes = lanes(256);
    let receiver = trusted(&mut lanes);
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let under_way = claim(&mut lanes, &pick, &[(&receiver, 100)]);
    lanes.free(&under_way[0].key);
    let pick = lanes.pick().unwrap();
    // Meanwhile the others are over as well.
    under_way.iter().skip(1).for_each(|one| lanes.free(&one.key));
    assert_eq!(lanes.claimed(&pick, receiver.deliveries(1), start()).len(), 1, "what it had a place for");
    assert_eq!(lanes.pick().unwrap().lanes, [receiver.lane()]);
}

#[test]
fn receivers_that_hang_leave_places_to_those_that_answer_and_to_new_ones() {
    let mut lanes = lanes(16);
    let good = [trusted(&mut lanes), trusted(&mut lanes)];
    let bad: Vec<Receiver> = (0..20).map(|_| doubtful(&mut lanes)).collect();
    let new: Vec<Receiver> = (0..20).map(|_| Receiver::new()).collect();
    let due: Vec<(&Receiver, usize)> = bad.iter().chain(&new).chain(&good).map(|receiver| (receiver, 50)).collect();
    let claim_all = |lanes: &mut Lanes, receivers: &[Receiver]| {
        receivers.iter().for_each(|receiver| lanes.mark(receiver.lane()));
        let mut under_way = Vec::new();
        while let Some(pick) = lanes.pick() {
            under_way.extend(claim(lanes, &pick, &due));
        }
        under_way
    };
    assert_eq!(claim_all(&mut lanes, &bad).len(), 4, "a quarter");
    let first = claim_all(&mut lanes, &new);
    assert_eq!(first.len(), 8, "half, one each, whatever the others do");
    // They hang as well, so that they are doubtful: that does not make room for more of the kind.
    lanes.doubt_slow(start() + 2.seconds());
    assert_eq!(claim_all(&mut lanes, &new), []);
    assert_eq!(claim_all(&mut lanes, &good).len(), 4, "the last quarter");
    assert_eq!((lanes.in_flight, lanes.pick()), (16, None), "never more than there are places");
    for one in &first {
        lanes.answered(&one.key, Turn::Failed, in_time());
        lanes.free(&one.key);
    }
    assert_eq!(claim_all(&mut lanes, &[]).len(), 8, "those that waited for their turn");
}

#[test]
fn trust_ends_with_a_failure_and_with_waiting() {
    let mut lanes = lanes(256);
    let (failing, slow) = (trusted(&mut lanes), trusted(&mut lanes));
    for receiver in [&failing, &slow] {
        lanes.mark(receiver.lane());
    }
    let pick = lanes.pick().unwrap();
    let under_way = claim(&mut lanes, &pick, &[(&failing, 1), (&slow, 1)]);
    lanes.answered(&under_way[0].key, Turn::Failed, in_time());
    assert_eq!(lanes.standing(failing.0.id), Standing::Unproven, "it kept nobody waiting");

    lanes.doubt_slow(start() + 1.second());
    assert_eq!(lanes.standing(slow.0.id), Standing::Trusted);
    lanes.doubt_slow(start() + 2.seconds());
    assert_eq!(lanes.standing(slow.0.id), Standing::Doubtful);
    lanes.answered(&under_way[1].key, Turn::Succeeded, in_time());
    lanes.doubt_slow(start() + 9.seconds());
    assert_eq!(lanes.standing(slow.0.id), Standing::Trusted, "it answered; only the store is slow to write it down");

    lanes.mark(slow.lane());
    let pick = lanes.pick().unwrap();
    let late = claim(&mut lanes, &pick, &[(&slow, 1)]).remove(0);
    lanes.answered(&late.key, Turn::Succeeded, too_slow());
    assert_eq!(lanes.standing(slow.0.id), Standing::Doubtful, "it took it, and kept its place for long");
}

#[test]
fn a_quick_answer_ends_no_doubt_while_another_call_waits() {
    let mut lanes = lanes(256);
    let receiver = trusted(&mut lanes);
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let under_way = claim(&mut lanes, &pick, &[(&receiver, 2)]);
    let late = start() + 3.seconds();
    lanes.answered(&under_way[0].key, Turn::Succeeded, (late, late + 5.milliseconds()));
    assert_eq!(lanes.standing(receiver.0.id), Standing::Doubtful);
    lanes.free(&under_way[0].key);
    lanes.free(&under_way[1].key);
    nothing_more(&mut lanes);
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let again = claim(&mut lanes, &pick, &[(&receiver, 1)]).remove(0);
    lanes.answered(&again.key, Turn::Succeeded, (late, late + 5.milliseconds()));
    assert_eq!(lanes.standing(receiver.0.id), Standing::Trusted);
}

#[test]
fn receivers_that_fail_at_once_do_not_wait_behind_those_that_hang() {
    let mut lanes = lanes(64);
    let hanging: Vec<Receiver> = (0..100).map(|_| doubtful(&mut lanes)).collect();
    let failing = trusted(&mut lanes);
    lanes.mark(failing.lane());
    let pick = lanes.pick().unwrap();
    let one = claim(&mut lanes, &pick, &[(&failing, 1)]).remove(0);
    lanes.answered(&one.key, Turn::Failed, in_time());
    lanes.free(&one.key);

    hanging.iter().chain([&failing]).for_each(|receiver| lanes.mark(receiver.lane()));
    let due: Vec<(&Receiver, usize)> = hanging.iter().chain([&failing]).map(|receiver| (receiver, 50)).collect();
    let mut served = Vec::new();
    while let Some(pick) = lanes.pick() {
        served.extend(claim(&mut lanes, &pick, &due).iter().map(|one| one.key.endpoint));
    }
    assert_eq!(served.iter().filter(|endpoint| **endpoint == failing.0.id).count(), 1);
    assert_eq!(served.len(), 16 + 1, "a quarter hangs");
}

#[test]
fn receivers_that_answer_share_what_is_left_of_a_full_house() {
    let mut lanes = lanes(64);
    let receivers: Vec<Receiver> = (0..12).map(|_| trusted(&mut lanes)).collect();
    let due: Vec<(&Receiver, usize)> = receivers.iter().map(|receiver| (receiver, 50)).collect();
    receivers.iter().for_each(|receiver| lanes.mark(receiver.lane()));
    let mut under_way = Vec::new();
    while let Some(pick) = lanes.pick() {
        under_way.extend(claim(&mut lanes, &pick, &due));
    }
    let counts: Vec<usize> = receivers
        .iter()
        .map(|receiver| under_way.iter().filter(|one| one.key.endpoint == receiver.0.id).count())
        .collect();
    assert_eq!(counts, [8, 8, 8, 8, 2, 2, 2, 2, 2, 2, 2, 2]);

    under_way.iter().for_each(|one| lanes.free(&one.key));
    assert_eq!(lanes.pick().unwrap().per_endpoint, 8, "the house is empty again");
}

#[test]
fn lanes_that_a_claim_did_not_reach_have_their_turn_next() {
    let mut lanes = lanes(16);
    let receivers: Vec<Receiver> = (0..6).map(|_| trusted(&mut lanes)).collect();
    let due: Vec<(&Receiver, usize)> = receivers.iter().zip([3, 2, 2, 2, 1, 1]).collect();
    for receiver in &receivers {
        lanes.mark(receiver.lane());
    }
    let pick = lanes.pick().unwrap();
    assert_eq!(pick.lanes.len(), 6);
    let under_way = claim(&mut lanes, &pick, &due);
    for one in &under_way {
        lanes.free(&one.key);
    }
    let next = lanes.pick().unwrap();
    // The claim was cut at the eighth delivery: the last two lanes had none, and the fourth not all.
    let expected: Vec<Lane> = [4, 5, 3, 0, 1, 2].iter().map(|place: &usize| receivers[*place].lane()).collect();
    assert_eq!(next.lanes, expected);
}

#[test]
fn what_is_in_flight_already_is_not_sent_twice_at_a_time() {
    let mut lanes = lanes(256);
    let receiver = trusted(&mut lanes);
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let mut under_way = claim(&mut lanes, &pick, &[(&receiver, 3)]);
    // The clock jumped, their leases are over, and the store gives the same and more.
    let more = receiver.deliveries(6);
    let again: Vec<ClaimedDelivery> = under_way.iter().chain(&more).cloned().collect();
    assert_eq!(lanes.claimed(&pick, again, start()), more[..5], "as many as there are places");
    assert_eq!(lanes.in_flight, 8);
    under_way.extend(more);
    under_way.iter().for_each(|one| lanes.free(&one.key));
    assert_eq!((lanes.in_flight, lanes.known.len()), (0, 0), "nothing is remembered of what is over");
}

#[test]
fn what_the_store_has_places_for_is_sent_before_their_last_outcomes_are_known_to_be_written() {
    let mut lanes = lanes(256);
    let receiver = trusted(&mut lanes);
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let under_way = claim(&mut lanes, &pick, &[(&receiver, 8)]);
    for one in &under_way[..3] {
        lanes.answered(&one.key, Turn::Succeeded, in_time());
    }
    lanes.free(&under_way[0].key);
    let pick = lanes.pick().unwrap();
    // Three outcomes are written; this node knows of one.
    let more = receiver.deliveries(4);
    assert_eq!(lanes.claimed(&pick, more.clone(), start()), more[..3], "and never more calls than places");
}

#[test]
fn an_endpoint_that_is_being_disabled_is_not_claimed() {
    let (mut lanes, receiver) = (lanes(256), Receiver::new());
    lanes.mark(receiver.lane());
    assert!(lanes.end(receiver.0.id));
    assert!(!lanes.end(receiver.0.id), "once");
    assert_eq!(lanes.pick(), None, "also when it waited before");
    lanes.mark(receiver.lane());
    assert_eq!(lanes.pick(), None);
    lanes.ended(receiver.0.id);
    lanes.mark(receiver.lane());
    assert!(lanes.pick().is_some());
}

#[test]
fn a_lane_that_cannot_be_read_is_found_by_halves_and_left_alone() {
    let mut lanes = lanes(256);
    let receivers: Vec<Receiver> = (0..37).map(|_| Receiver::new()).collect();
    let due: Vec<(&Receiver, usize)> = receivers.iter().map(|receiver| (receiver, 1)).collect();
    receivers.iter().for_each(|receiver| lanes.mark(receiver.lane()));
    let damaged = receivers[20].lane();
    let (mut served, mut rounds) = (0, 0);
    while let Some(pick) = lanes.pick() {
        rounds += 1;
        if pick.lanes.contains(&damaged) {
            lanes.unreadable(pick);
        } else {
            served += claim(&mut lanes, &pick, &due).len();
        }
    }
    assert_eq!(served, 36);
    assert!(rounds < 40, "{rounds} rounds");
    lanes.mark(damaged);
    assert!(lanes.pick().is_some(), "a tick tries it again");
}

#[test]
fn the_last_word_is_kept_as_long_as_something_is_under_way() {
    let mut lanes = lanes(256);
    let receiver = trusted(&mut lanes);
    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let under_way = claim(&mut lanes, &pick, &[(&receiver, 2)]);
    assert_eq!(lanes.answered(&under_way[0].key, Turn::Failed, in_time()), None);
    lanes.free(&under_way[0].key);
    assert_eq!(lanes.answered(&under_way[1].key, Turn::Succeeded, in_time()), Some(Turn::Failed));
    lanes.free(&under_way[1].key);

    lanes.mark(receiver.lane());
    let pick = lanes.pick().unwrap();
    let under_way = claim(&mut lanes, &pick, &[(&receiver, 1)]);
    assert_eq!(lanes.answered(&under_way[0].key, Turn::Failed, in_time()), None, "by then the store knows");
}

#[test]
fn a_lane_that_gave_less_than_it_had_places_for_is_asked_once_more_when_nothing_is_in_flight() {
    let mut lanes = lanes(256);
    let receiver = trusted(&mut lanes);
    for (given, asked_again) in [(1, false), (3, true)] {
        lanes.mark(receiver.lane());
        let pick = lanes.pick().unwrap();
        // Another node has the other places, or there is no more.
        for one in lanes.claimed(&pick, receiver.deliveries(given), start()) {
            assert_eq!(lanes.pick(), None);
            lanes.free(&one.key);
        }
        let again = lanes.pick();
        assert_eq!(again.is_some(), asked_again, "{given}");
        if let Some(pick) = again {
            lanes.claimed(&pick, Vec::new(), start());
            assert_eq!(lanes.pick(), None, "once");
        }
    }
}
