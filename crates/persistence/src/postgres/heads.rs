//! The start of the next claim in a lane, so that the claim does not walk past all earlier ones.
//!
//! A row that leaves the head of a lane stays in the index until the next vacuum, and each claim would visit it again. So a full claim
//! stores the start of the next one. A slow commit may insert an older row before that start. A lane is therefore walked from its beginning
//! once a second, and whenever it seems to have fewer rows than there are places. So no row is missed, and none waits for more than a
//! second because of a younger one.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use cais_domain::ids::EndpointId;

use crate::rows::delivery::ClaimedRow;

/// The longest interval between two walks of a lane from its beginning.
const FRESH: Duration = Duration::from_secs(1);
/// The largest number of lanes kept. Other lanes are walked from their beginnings.
const MAX_LANES: usize = 10_000;
/// A due time before all others.
const BEGINNING: i64 = i64::MIN;

/// An endpoint and its epoch.
type LaneKey = (EndpointId, i64);

/// Lanes, and the earliest due time of the next claim in them, in microseconds.
pub(super) type Lanes = BTreeMap<LaneKey, i64>;

/// The heads of lanes.
#[derive(Debug, Default)]
pub(super) struct Heads(HashMap<LaneKey, Head>);

#[derive(Debug, Clone, Copy)]
struct Head {
    /// All rows that were due before this instant were claimed at the last check.
    due_at: i64,
    /// The instant of the last walk from the beginning.
    walked: Instant,
}

impl Heads {
    /// Returns the start of the next claim in the lane.
    pub(super) fn of(&self, lane: LaneKey, now: Instant) -> i64 {
        self.fresh(lane, now).map_or(BEGINNING, |head| head.due_at)
    }

    /// Updates the lanes' starts from the rows of a claim, of which the first in each lane count. Returns the lanes that may have more rows
    /// and have to be walked from their beginning. Returns none if the claim was `full`.
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
    fn full_claim_sets_the_start_of_the_next() {
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
    fn lane_with_few_rows_is_walked_from_its_beginning() {
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
    fn limited_claim_keeps_starts_of_lanes_without_rows() {
        let (mut heads, one, other, now) = (Heads::default(), (fresh(), 0), (fresh(), 0), Instant::now());
        heads.learn(&Lanes::from([(one, BEGINNING)]), &rows(one, &[5, 7], 2), false, now);
        let both = Lanes::from([(one, 7), (other, BEGINNING)]);
        assert_eq!(heads.learn(&both, &rows(other, &[3], 2), true, now), Lanes::new());
        assert_eq!((heads.of(one, now), heads.of(other, now)), (7, 3));
    }
}
