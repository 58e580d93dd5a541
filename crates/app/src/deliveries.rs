//! Keeps webhooks being delivered, and tells the dispatcher what it has to know: that time passes, that there is something new,
//! that the service ends.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use cais_ports::{DeliveryQueue, alerts};
use cais_use_cases::Ports;
use cais_use_cases::webhooks::dispatch::{self, DispatchLimits, Signal};
use futures_util::FutureExt as _;
use futures_util::stream::{self, Stream, StreamExt as _};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};

/// How often it is looked for what is due, and for what another node left behind.
const TICK: Duration = Duration::from_secs(1);
/// Pause before delivering begins anew after a panic.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest wait for what is in flight when the service ends: an attempt takes at most 15 s until the answer's headers, and a little
/// more for its body.
const DRAINED_WITHIN: Duration = Duration::from_secs(20);

/// Deliveries under way.
#[derive(Debug)]
pub struct Deliveries {
    task: JoinHandle<()>,
}

impl Deliveries {
    /// Delivers until `stop` turns true, and what is in flight then is over.
    #[must_use]
    pub fn start(ports: &Ports, stop: &watch::Receiver<bool>) -> Self {
        let (ports, told) = (ports.clone(), stop.clone());
        let begin = move || {
            let signals = signals(Arc::clone(&ports.deliveries), told.clone());
            dispatch::run(ports.clone(), DispatchLimits::default(), signals)
        };
        Self { task: tokio::spawn(run(begin, stop.clone())) }
    }

    /// Waits until everything in flight is over and written down; `stopped_at` is when `stop` turned true. What takes longer is
    /// delivered again when its lease is over.
    pub async fn drained(mut self, stopped_at: Instant) {
        if tokio::time::timeout_at(stopped_at + DRAINED_WITHIN, &mut self.task).await.is_err() {
            tracing::warn!("webhooks in flight did not end in time; they are sent again after the next start");
            self.task.abort();
            // It ends at once, and its error says that it was aborted.
            let _aborted = self.task.await;
        }
    }
}

/// Runs the dispatcher until it ends because it was told to; `begin` starts it.
async fn run<F: Future<Output = ()> + Send>(mut begin: impl FnMut() -> F + Send, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        // A bug must not end it: nobody would hear of anything until the next start.
        if AssertUnwindSafe(begin()).catch_unwind().await.is_err() {
            tracing::error!(
                alert = alerts::PANIC,
                "delivery of webhooks panicked and is started again; deliveries in flight are sent again"
            );
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                // An error means that the service is gone, which is a reason to end as well.
                _ = stop.wait_for(|stop| *stop) => {}
            }
        }
    }
}

/// Time that passes, deliveries that came into being on this node, and the end.
fn signals(
    queue: Arc<dyn DeliveryQueue>,
    mut stop: watch::Receiver<bool>,
) -> impl Stream<Item = Signal> + Unpin + Send + use<> {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ticks = stream::unfold(interval, async |mut interval| {
        interval.tick().await;
        Some((Signal::Tick, interval))
    });
    let hints = stream::unfold(queue, async |queue| {
        let lanes = queue.hinted().await;
        Some((Signal::Hint(lanes), queue))
    });
    let end = async move {
        // An error means that the service is gone, which is a reason to end as well.
        let _stopped = stop.wait_for(|stop| *stop).await;
        Signal::Stop
    };
    stream::select(stream::select(ticks, hints), end.into_stream()).boxed()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::atomic::{AtomicU32, Ordering};

    use cais_ports::Store as _;
    use cais_testkit::MemoryStore;
    use cais_testkit::builders::{a_test_delivery, an_account, an_endpoint, steps};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_dispatcher_is_told_of_time_of_news_and_of_the_end() {
        let store = Arc::new(MemoryStore::default());
        let account = an_account();
        let endpoint = an_endpoint(account.id, 0);
        store.commit(steps::open_account(&account)).await.unwrap();
        store.commit(steps::open_endpoint(&endpoint)).await.unwrap();
        let (stop, stopped) = watch::channel(false);
        let mut signals = signals(store.clone(), stopped);
        let begun = Instant::now();
        assert_eq!(signals.next().await, Some(Signal::Tick), "at once");
        assert_eq!(signals.next().await, Some(Signal::Tick));
        assert_eq!(begun.elapsed().as_secs(), 1);
        let delivery = a_test_delivery(&endpoint);
        let lane = delivery.lane;
        store.put(vec![delivery], None).await.unwrap();
        assert_eq!(signals.next().await, Some(Signal::Hint(vec![lane])));
        assert_eq!(begun.elapsed().as_secs(), 1, "without waiting for the time");
        stop.send_replace(true);
        assert_eq!(signals.next().await, Some(Signal::Stop));
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_not_the_end() {
        let (stop, stopped) = watch::channel(false);
        let begun = AtomicU32::new(0);
        let begin = || {
            let number = begun.fetch_add(1, Ordering::SeqCst);
            let stop = &stop;
            async move {
                assert!(number > 0, "a bug");
                stop.send_replace(true);
            }
        };
        run(begin, stopped).await;
        assert_eq!(begun.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_does_not_end_is_not_waited_for_for_ever() {
        let task = tokio::spawn(std::future::pending());
        let stopped_at = Instant::now();
        Deliveries { task }.drained(stopped_at).await;
        assert_eq!(stopped_at.elapsed(), DRAINED_WITHIN);
        let begun = Instant::now();
        Deliveries { task: tokio::spawn(async {}) }.drained(begun).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
