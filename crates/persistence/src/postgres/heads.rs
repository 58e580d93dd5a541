//! The start of the next claim in a queue, so that the claim does not visit the rows of earlier claims again.
//!
//! A row that leaves the head of a queue stays in the index until the next vacuum, and each claim would visit it again. So a claim that
//! fills all slots stores the start of the next claim. A slow commit may insert an older row before that start. Therefore a claim reads the
//! queue from its beginning once a second, and also after it found fewer rows than free slots. So no row is missed, and an older row waits
//! at most a second behind younger ones.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use cais_domain::ids::EndpointId;

use crate::rows::delivery::ClaimedRow;

/// The longest interval between two reads of a queue from its beginning.
const FRESH: Duration = Duration::from_secs(1);
/// The largest number of queues with a stored start. Other queues are always read from their beginnings.
const MAX_QUEUES: usize = 10_000;
/// A due time before all others.
const BEGINNING: i64 = i64::MIN;

/// An endpoint and its epoch.
type QueueKey = (EndpointId, i64);

/// Queues, each with its start: the due time, in microseconds, from which the next claim reads the queue.
pub(super) type Queues = BTreeMap<QueueKey, i64>;

/// The stored starts of the next claims.
#[derive(Debug, Default)]
pub(super) struct Heads(HashMap<QueueKey, Head>);

#[derive(Debug, Clone, Copy)]
struct Head {
    /// The due time of the last claimed row, in microseconds. All rows before it were claimed since the last read from the beginning,
    /// except rows that slow commits inserted.
    due_at: i64,
    /// The instant of the last read from the beginning.
    walked: Instant,
}

impl Heads {
    /// Returns the start of the next claim in the queue: [`BEGINNING`] if no start is stored, or if it is time to read from the beginning
    /// again.
    pub(super) fn of(&self, queue: QueueKey, now: Instant) -> i64 {
        self.fresh(queue, now).map_or(BEGINNING, |head| head.due_at)
    }

    /// Updates the starts of the queues from the rows of a claim. Returns the queues that the caller must read again from the beginning,
    /// because they may have rows before their start. If the claim reached its total limit (`full`), the starts of queues without rows stay
    /// unchanged.
    pub(super) fn update(&mut self, queues: &Queues, rows: &[ClaimedRow], full: bool, now: Instant) -> Queues {
        let mut got: HashMap<&str, (i64, i64, i64)> = HashMap::new();
        for ((_, endpoint, _), _, _, (_, due_at, slots)) in rows {
            let (count, last, of) = got.entry(endpoint).or_insert((0, *due_at, *slots));
            *count = count.saturating_add(1);
            *last = (*last).max(*due_at);
            *of = *slots;
        }
        let mut short = Queues::new();
        for (queue, from) in queues {
            let (endpoint, _) = queue;
            match got.get(endpoint.to_string().as_str()) {
                Some((count, last, slots)) if full || count >= slots => {
                    let walked = self.fresh(*queue, now).map_or(now, |head| head.walked);
                    if self.0.len() < MAX_QUEUES || self.0.contains_key(queue) {
                        self.0.insert(*queue, Head { due_at: *last, walked });
                    }
                }
                None if full => {}
                Some(_) | None => {
                    self.0.remove(queue);
                    if *from > BEGINNING {
                        short.insert(*queue, BEGINNING);
                    }
                }
            }
        }
        if self.0.len() >= MAX_QUEUES {
            self.0.retain(|_, head| now.duration_since(head.walked) < FRESH);
        }
        short
    }

    fn fresh(&self, queue: QueueKey, now: Instant) -> Option<Head> {
        self.0.get(&queue).copied().filter(|head| now.duration_since(head.walked) < FRESH)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_testkit::builders::fresh;

    use super::*;

    fn rows(queue: QueueKey, due: &[i64], slots: i64) -> Vec<ClaimedRow> {
        let name = || (String::new(), queue.0.to_string(), String::new());
        let row = |due_at| (name(), (1, 1), (String::new(), String::new(), None, None, 0), (None, due_at, slots));
        due.iter().copied().map(row).collect()
    }

    #[test]
    fn full_claim_sets_the_start_of_the_next() {
        let (mut heads, queue, now) = (Heads::default(), (fresh(), 0), Instant::now());
        let queues = |from| Queues::from([(queue, from)]);
        assert_eq!(heads.of(queue, now), BEGINNING);
        assert_eq!(heads.update(&queues(BEGINNING), &rows(queue, &[5, 7], 2), false, now), Queues::new());
        assert_eq!(heads.of(queue, now), 7);
        assert_eq!(heads.update(&queues(7), &rows(queue, &[8, 9], 2), false, now), Queues::new());
        assert_eq!(heads.of(queue, now), 9);
        assert_eq!(heads.of((queue.0, 1), now), BEGINNING, "another epoch is another queue");
        let later = now.checked_add(FRESH).unwrap();
        assert_eq!(heads.of(queue, later), BEGINNING, "once a second the walk starts at the beginning");
    }

    #[test]
    fn queue_with_few_rows_is_walked_from_its_beginning() {
        let (mut heads, queue, now) = (Heads::default(), (fresh(), 0), Instant::now());
        let queues = |from| Queues::from([(queue, from)]);
        for few in [vec![], vec![8]] {
            heads.update(&queues(BEGINNING), &rows(queue, &[5, 7], 2), false, now);
            assert_eq!(heads.update(&queues(7), &rows(queue, &few, 2), false, now), queues(BEGINNING));
            assert_eq!(heads.of(queue, now), BEGINNING);
            assert_eq!(
                heads.update(&queues(BEGINNING), &rows(queue, &few, 2), false, now),
                Queues::new(),
                "the queue is walked from its beginning only once"
            );
        }
    }

    #[test]
    fn limited_claim_keeps_starts_of_queues_without_rows() {
        let (mut heads, one, other, now) = (Heads::default(), (fresh(), 0), (fresh(), 0), Instant::now());
        heads.update(&Queues::from([(one, BEGINNING)]), &rows(one, &[5, 7], 2), false, now);
        let both = Queues::from([(one, 7), (other, BEGINNING)]);
        assert_eq!(heads.update(&both, &rows(other, &[3], 2), true, now), Queues::new());
        assert_eq!((heads.of(one, now), heads.of(other, now)), (7, 3));
    }
}
