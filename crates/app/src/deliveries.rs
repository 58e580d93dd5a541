//! Runs the dispatcher of webhooks and sends it the signals for time, new deliveries and shutdown.

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

/// Interval of the check for due deliveries and for deliveries whose lease at another node expired.
const TICK: Duration = Duration::from_secs(1);
/// Pause before the dispatcher restarts after a panic.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest wait for deliveries in flight at shutdown. An attempt takes at most 15 s until the response's headers, and then
/// 2 s for the body.
const DRAINED_WITHIN: Duration = Duration::from_secs(20);

/// The task of the dispatcher.
#[derive(Debug)]
pub struct Deliveries {
    task: JoinHandle<()>,
}

impl Deliveries {
    /// Starts the dispatcher. It ends after `stop` turns true and all deliveries in flight have ended.
    #[must_use]
    pub fn start(ports: &Ports, stop: &watch::Receiver<bool>) -> Self {
        let (ports, stopped) = (ports.clone(), stop.clone());
        let begin = move || {
            let signals = signals(Arc::clone(&ports.deliveries), stopped.clone());
            dispatch::run(ports.clone(), DispatchLimits::default(), signals)
        };
        Self { task: tokio::spawn(run(begin, stop.clone())) }
    }

    /// Waits until all deliveries in flight are recorded, at most `DRAINED_WITHIN` after `stopped_at`, the time when
    /// `stop` turned true. A delivery that takes longer is repeated after its lease expires.
    pub async fn drained(mut self, stopped_at: Instant) {
        if tokio::time::timeout_at(stopped_at + DRAINED_WITHIN, &mut self.task).await.is_err() {
            tracing::warn!("webhooks in flight did not end within 20 s; they are sent again after their leases expire");
            self.task.abort();
            // The aborted task ends at once with an error, which is ignored.
            let _aborted = self.task.await;
        }
    }
}

/// Runs the dispatcher that `begin` starts, until it returns after [`Signal::Stop`]. After a panic the dispatcher is started again, unless
/// the service stops.
async fn run<F: Future<Output = ()> + Send>(mut begin: impl FnMut() -> F + Send, mut stop: watch::Receiver<bool>) {
    // A panic must not end the dispatcher. Otherwise no webhook would be sent until the next start.
    while AssertUnwindSafe(begin()).catch_unwind().await.is_err() {
        tracing::error!(
            alert = alerts::PANIC,
            "delivery of webhooks panicked and is started again; deliveries in flight are sent again"
        );
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            // An error means that the sender was dropped: the service has ended.
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

/// Returns the signals for the dispatcher: ticks, new deliveries of this node, and shutdown.
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
        let queues = queue.hinted().await;
        Some((Signal::Hint(queues), queue))
    });
    let end = async move {
        // An error means that the sender was dropped: the service has ended.
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
    async fn signals_are_tick_new_delivery_and_stop() {
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
        let queue = delivery.queue;
        store.put(vec![delivery], None).await.unwrap();
        assert_eq!(signals.next().await, Some(Signal::Hint(vec![queue])));
        assert_eq!(begun.elapsed().as_secs(), 1, "the signal comes before the next tick");
        stop.send_replace(true);
        assert_eq!(signals.next().await, Some(Signal::Stop));
    }

    #[tokio::test(start_paused = true)]
    async fn dispatcher_that_panics_is_started_again() {
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
    async fn dispatcher_that_panics_while_stopping_is_not_started_again() {
        let (stop, stopped) = watch::channel(false);
        drop(stop);
        let begun = AtomicU32::new(0);
        run(|| async { assert!(begun.fetch_add(1, Ordering::SeqCst) > 0, "a bug") }, stopped).await;
        assert_eq!(begun.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn dispatcher_that_does_not_stop_is_aborted() {
        let task = tokio::spawn(std::future::pending());
        let stopped_at = Instant::now();
        Deliveries { task }.drained(stopped_at).await;
        assert_eq!(stopped_at.elapsed(), DRAINED_WITHIN);
        let begun = Instant::now();
        Deliveries { task: tokio::spawn(async {}) }.drained(begun).await;
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }
}
