//! Where the next claim in a lane begins, so that it does not walk past everything that was claimed before.
//!
//! What leaves the head of a lane stays in its index until the next vacuum, and each claim would have to look at it again. So a claim that
//! got all it wanted says where the next one begins. Something older may come to be behind that: a commit that took long. Whenever a lane
//! seems to have less than there are places, and once a second in any case, it is walked from its beginning. So nothing is ever missed,
//! and nothing waits for more than a second because something younger was there before.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use cais_domain::ids::EndpointId;

use crate::rows::delivery::ClaimedRow;

/// A lane is walked from its beginning at least so often.
const FRESH: Duration = Duration::from_secs(1);
/// So many lanes are remembered at most. Others are walked from their beginnings.
const MAX_LANES: usize = 10_000;
/// Nothing was due before.
const BEGINNING: i64 = i64::MIN;

/// An endpoint and its epoch.
type LaneKey = (EndpointId, i64);

/// Lanes, and since when what is claimed in them has been due at least, in microseconds.
pub(super) type Lanes = BTreeMap<LaneKey, i64>;

/// The heads of lanes.
#[derive(Debug, Default)]
pub(super) struct Heads(HashMap<LaneKey, Head>);

#[derive(Debug, Clone, Copy)]
struct Head {
    /// Everything before it was claimed, when it was looked at.
    due_at: i64,
    /// When the lane was walked from its beginning.
    walked: Instant,
}

impl Heads {
    /// Where the next claim in the lane begins.
    pub(super) fn of(&self, lane: LaneKey, now: Instant) -> i64 {
        self.fresh(lane, now).map_or(BEGINNING, |head| head.due_at)
    }

    /// Learns from the rows that a claim got in these lanes: in each the first that were due. Which of them have to be walked from their
    /// beginning, because they may have more than the claim got; none when it got as many as it wanted in all.
    pub(super) fn learn(&mut self, lanes: &Lanes, rows: &[ClaimedRow], full: bool, now: Instant) -> Lanes {
        let mut got: HashMap<&str, (i64, i64, i64)> = HashMap::new();
        for ((_, endpoint, _), _, _, (_, due_at, places)) in rows {
            let (count, last, of) = got.entry(endpoint).or_insert((0, *due_at, *places));
            *count = count.saturating_add(1);
            *last = (*last).max(*due_at);
            *of = *places;
        }
        let mut short = Lanes::new();
        for (lane, from) in lanes {
            let (endpoint, _) = lane;
            match got.get(endpoint.to_string().as_str()) {
                Some((count, last, places)) if full || count >= places => {
                    let walked = self.fresh(*lane, now).map_or(now, |head| head.walked);
                    if self.0.len() < MAX_LANES || self.0.contains_key(lane) {
                        self.0.insert(*lane, Head { due_at: *last, walked });
                    }
                }
                None if full => {}
                Some(_) | None => {
                    self.0.remove(lane);
                    if *from > BEGINNING {
                        short.insert(*lane, BEGINNING);
                    }
                }
            }
        }
        if self.0.len() >= MAX_LANES {
            self.0.retain(|_, head| now.duration_since(head.walked) < FRESH);
        }
        short
    }

    fn fresh(&self, lane: LaneKey, now: Instant) -> Option<Head> {
        self.0.get(&lane).copied().filter(|head| now.duration_since(head.walked) < FRESH)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_testkit::builders::fresh;

    use super::*;

    fn rows(lane: LaneKey, due: &[i64], places: i64) -> Vec<ClaimedRow> {
        let name = || (String::new(), lane.0.to_string(), String::new());
        let row = |due_at| (name(), (1, 1), (String::new(), String::new(), None), (None, due_at, places));
        due.iter().copied().map(row).collect()
    }

    #[test]
    fn a_claim_that_got_all_it_wanted_says_where_the_next_begins() {
        let (mut heads, lane, now) = (Heads::default(), (fresh(), 0), Instant::now());
        let lanes = |from| Lanes::from([(lane, from)]);
        assert_eq!(heads.of(lane, now), BEGINNING);
        assert_eq!(heads.learn(&lanes(BEGINNING), &rows(lane, &[5, 7], 2), false, now), Lanes::new());
        assert_eq!(heads.of(lane, now), 7);
        assert_eq!(heads.learn(&lanes(7), &rows(lane, &[8, 9], 2), false, now), Lanes::new());
        assert_eq!(heads.of(lane, now), 9);
        assert_eq!(heads.of((lane.0, 1), now), BEGINNING, "another epoch is another lane");
        let later = now.checked_add(FRESH).unwrap();
        assert_eq!(heads.of(lane, later), BEGINNING, "it is walked from its beginning once a second");
    }

    #[test]
    fn a_lane_that_seems_to_have_less_is_walked_from_its_beginning() {
        let (mut heads, lane, now) = (Heads::default(), (fresh(), 0), Instant::now());
        let lanes = |from| Lanes::from([(lane, from)]);
        for few in [vec![], vec![8]] {
            heads.learn(&lanes(BEGINNING), &rows(lane, &[5, 7], 2), false, now);
            assert_eq!(heads.learn(&lanes(7), &rows(lane, &few, 2), false, now), lanes(BEGINNING));
            assert_eq!(heads.of(lane, now), BEGINNING);
            assert_eq!(
                heads.learn(&lanes(BEGINNING), &rows(lane, &few, 2), false, now),
                Lanes::new(),
                "once is enough"
            );
        }
    }

    #[test]
    fn a_claim_that_was_cut_short_tells_nothing_of_lanes_that_got_nothing() {
        let (mut heads, one, other, now) = (Heads::default(), (fresh(), 0), (fresh(), 0), Instant::now());
        heads.learn(&Lanes::from([(one, BEGINNING)]), &rows(one, &[5, 7], 2), false, now);
        let both = Lanes::from([(one, 7), (other, BEGINNING)]);
        assert_eq!(heads.learn(&both, &rows(other, &[3], 2), true, now), Lanes::new());
        assert_eq!((heads.of(one, now), heads.of(other, now)), (7, 3));
    }
}
