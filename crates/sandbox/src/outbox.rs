//! Sends queued messages, such as notifications. Normally the oldest is sent first, and several are sent at the same time. The tester can
//! reverse the order; then the newest is sent first, one at a time. Failed attempts are repeated.

use std::{cmp::Reverse, collections::BTreeMap, future::Future, sync::Arc, time::Duration};

use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, sleep_until},
};

/// The largest number of messages that are sent at the same time in the normal order.
const MAX_IN_FLIGHT: usize = 16;

/// The tester's switches of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// `true`: messages wait and are not sent.
    pub is_paused: bool,
    /// `true`: the newest message is sent first, one at a time.
    pub is_reversed: bool,
}

/// A queue of messages. A later message has a higher number.
pub trait Outbox: Send + Sync + 'static {
    /// The largest number of attempts per message.
    const MAX_ATTEMPTS: u32;

    /// Returns the numbers of waiting messages from `first` on, in ascending order.
    fn numbers_from(&self, first: u64) -> Vec<u64>;

    /// Returns the current switches.
    fn switches(&self) -> Switches;

    /// Returns the wakeup that is notified after a new message or a change of the switches.
    fn wakeup(&self) -> &Notify;

    /// Returns the pause before the next attempt, if `attempts` attempts have failed.
    fn repeat_after(&self, attempts: u32) -> Duration;

    /// Makes one attempt to send the message `number`. Returns `true` if the receiver answered 2xx.
    fn attempt(&self, number: u64) -> impl Future<Output = bool> + Send;

    /// Records that the message `number` ended. `true`: the receiver accepted the message; `false`: the last attempt failed.
    fn end(&self, number: u64, delivered: bool);
}

/// Sends messages, first those that an earlier process did not deliver. Never returns.
pub async fn deliver<O: Outbox>(outbox: Arc<O>) {
    // The value for each number: the instant of the next attempt, and the number of attempts so far.
    let mut queue: BTreeMap<u64, (Instant, u32)> = BTreeMap::new();
    let mut in_flight = JoinSet::new();
    let mut next_number = 0;
    loop {
        for number in outbox.numbers_from(next_number) {
            queue.insert(number, (Instant::now(), 0));
            next_number = number + 1;
        }
        let switches = outbox.switches();
        let limit = if switches.is_reversed { 1 } else { MAX_IN_FLIGHT };
        let is_free = !switches.is_paused && in_flight.len() < limit;
        let next = is_free.then(|| next_due(&queue, switches.is_reversed)).flatten();
        tokio::select! {
            () = outbox.wakeup().notified() => {}
            () = sleep_until(next.map_or_else(Instant::now, |(due, _)| due)), if next.is_some() => {
                if let Some((_, number)) = next
                    && let Some((_, attempts)) = queue.remove(&number)
                {
                    let outbox = outbox.clone();
                    in_flight.spawn(async move { (number, attempts + 1, outbox.attempt(number).await) });
                }
            }
            Some(Ok((number, attempts, delivered))) = in_flight.join_next(), if !in_flight.is_empty() => {
                if delivered || attempts >= O::MAX_ATTEMPTS {
                    outbox.end(number, delivered);
                } else {
                    queue.insert(number, (Instant::now() + outbox.repeat_after(attempts), attempts));
                }
            }
        }
    }
}

/// Returns the instant of the next attempt, and the number of its message.
fn next_due(queue: &BTreeMap<u64, (Instant, u32)>, is_reversed: bool) -> Option<(Instant, u64)> {
    let due = queue.iter().map(|(number, (due, _))| (*due, *number));
    if is_reversed {
        let now = Instant::now();
        return due.min_by_key(|(due, number)| ((*due).max(now), Reverse(*number)));
    }
    due.min()
}
