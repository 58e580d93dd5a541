//! The background loops. Each repeats one use case, wakes for new work and backs off after a failure.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::time::Duration;

use cais_use_cases::keys::KeyRing;
use cais_use_cases::request_log::RequestLog;
use cais_use_cases::{
    Pass, Ports, WorkError, callbacks, charges, crypto, housekeeping, infractions, payouts, refunds, releases, resume,
};
use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::logging;
use cais_http_api::telemetry::{gauges, passes};
use cais_http_api::{Wakeup, WorkerWakeups};

/// The logged error of a pass that panicked; the panic itself is on standard error.
const PANICKED: &str = "the pass panicked";
/// Longest pause of a loop with repeated failures, unless the interval of the loop is longer.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// A running pass.
type Work = Pin<Box<dyn Future<Output = Result<Pass, WorkError>> + Send>>;

/// The name, the interval and the wake-up signal of a loop.
struct Rhythm {
    name: &'static str,
    every: Duration,
    /// Notified when there is new work; `None` for a loop that only follows its interval.
    wakeup: Option<Wakeup>,
}

/// Starts every loop. After `stop` turns true, each loop finishes its current pass and ends.
#[must_use]
pub fn start(
    ports: &Ports,
    wakeups: &WorkerWakeups,
    stop: &watch::Receiver<bool>,
    (keys, requests): (KeyRing, RequestLog),
) -> JoinSet<()> {
    let mut loops = JoinSet::new();
    let rhythm = |name, every_s, wakeup| Rhythm { name, every: Duration::from_secs(every_s), wakeup };
    let start = |loops: &mut JoinSet<()>, rhythm, pass: fn(Ports) -> Work| {
        let ports = ports.clone();
        loops.spawn(run(rhythm, stop.clone(), move || pass(ports.clone())));
    };
    start(&mut loops, rhythm("callbacks", 1, Some(wakeups.callbacks.clone())), |ports| {
        Box::pin(async move { callbacks::process::run_once(&ports).await })
    });
    start(&mut loops, rhythm("counts", 15, None), |ports| Box::pin(async move { passes::count_open(&ports).await }));
    start(&mut loops, rhythm("expire", 1, None), |ports| {
        Box::pin(async move { charges::expire::run_once(&ports).await })
    });
    start(&mut loops, rhythm("payouts", 1, None), |ports| {
        Box::pin(async move { payouts::poll::run_once(&ports).await })
    });
    start(&mut loops, rhythm("deposits", 1, None), |ports| {
        Box::pin(async move { crypto::deposits::poll::run_once(&ports).await })
    });
    start(&mut loops, rhythm("withdrawals", 1, None), |ports| {
        Box::pin(async move { crypto::withdrawals::poll::run_once(&ports).await })
    });
    start(&mut loops, rhythm("refunds", 1, None), |ports| {
        Box::pin(async move { refunds::poll::run_once(&ports).await })
    });
    start(&mut loops, rhythm("infractions", 60, None), |ports| {
        Box::pin(async move { infractions::poll::run_once(&ports).await })
    });
    start(&mut loops, rhythm("defenses", 1, None), |ports| {
        Box::pin(async move { infractions::poll_defenses::run_once(&ports).await })
    });
    start(&mut loops, rhythm("alerts", 60, Some(wakeups.deadlines.clone())), |ports| {
        Box::pin(async move { passes::alerts(&ports).await })
    });
    start(&mut loops, rhythm("releases", 1, None), |ports| Box::pin(async move { releases::run_once(&ports).await }));
    start(&mut loops, rhythm("resume", 2, None), |ports| Box::pin(async move { resume::run_once(&ports).await }));
    start(&mut loops, rhythm("reconcile", 600, None), |ports| {
        Box::pin(async move { passes::reconciliation(&ports).await })
    });
    start(&mut loops, rhythm("exposure", 300, None), |ports| Box::pin(async move { passes::exposure(&ports).await }));
    start(&mut loops, rhythm("housekeeping", 3_600, None), |ports| {
        Box::pin(async move { housekeeping::run_once(&ports).await })
    });
    let log = (ports.clone(), requests);
    loops.spawn(run(rhythm("request_log", 1, None), stop.clone(), move || -> Work {
        let (ports, requests) = log.clone();
        Box::pin(async move { requests.store(&ports).await })
    }));
    loops.spawn(run(rhythm("key_uses", 60, None), stop.clone(), move || -> Work {
        let keys = keys.clone();
        Box::pin(async move { keys.store_uses().await })
    }));
    loops
}

/// The consecutive failures of a loop. A cause that repeats is logged only once.
#[derive(Default)]
struct Failures {
    in_a_row: u32,
    logged: Option<String>,
}

impl Failures {
    fn note(&mut self, worker: &str, cause: String) {
        self.in_a_row = self.in_a_row.saturating_add(1);
        gauges::show_failures(worker, self.in_a_row);
        if self.logged.as_ref() != Some(&cause) {
            tracing::warn!(worker, cause, "worker pass failed; it is repeated after a pause");
            self.logged = Some(cause);
        }
    }

    fn clear(&mut self, worker: &str) {
        if self.in_a_row > 0 {
            tracing::info!(worker, failures = self.in_a_row, "worker recovered");
            *self = Self::default();
            gauges::show_failures(worker, 0);
        }
    }

    /// Returns the pause, which doubles with every failure in a row up to [`MAX_PAUSE`], or up to `every` if that is
    /// longer.
    fn pause(&self, every: Duration) -> Duration {
        every.saturating_mul(1_u32.checked_shl(self.in_a_row.min(16)).unwrap_or(u32::MAX)).min(MAX_PAUSE.max(every))
    }
}

async fn run<F>(rhythm: Rhythm, mut stop: watch::Receiver<bool>, mut pass: impl FnMut() -> F + Send)
where
    F: Future<Output = Result<Pass, WorkError>> + Send,
{
    let mut failures = Failures::default();
    while !*stop.borrow() {
        // A panic in one pass must not end the loop, because the loop's work would wait until the next start.
        let passed = AssertUnwindSafe(pass()).catch_unwind().await;
        let pause = match passed
            .map_err(|_| PANICKED.to_owned())
            .and_then(|ended| ended.map_err(|error| logging::chain(&error)))
        {
            Ok(Pass { done, more }) => {
                failures.clear(rhythm.name);
                if done > 0 {
                    tracing::debug!(worker = rhythm.name, done, "worker pass ended");
                }
                if more {
                    // The yield lets other tasks run between two full passes.
                    tokio::task::yield_now().await;
                    continue;
                }
                rhythm.every
            }
            Err(cause) => {
                failures.note(rhythm.name, cause);
                failures.pause(rhythm.every)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = notified(rhythm.wakeup.as_ref()), if failures.in_a_row == 0 => {}
            // An error means that the sender was dropped: the service has ended.
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
}

/// Waits for a notification of new work; waits forever without a wake-up signal.
async fn notified(wakeup: Option<&Wakeup>) {
    match wakeup {
        Some(wakeup) => wakeup.notified().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use cais_ports::QueryError;

    use super::*;

    fn rhythm(wakeup: Option<Wakeup>) -> Rhythm {
        Rhythm { name: "test", every: Duration::from_secs(1), wakeup }
    }

    /// Runs a loop over `results` and stops after the last. Returns the elapsed simulated milliseconds.
    async fn elapsed_ms(results: Vec<Result<Pass, WorkError>>) -> u128 {
        let (stop, stopped) = watch::channel(false);
        let started = tokio::time::Instant::now();
        let mut results = results.into_iter();
        run(rhythm(None), stopped, move || {
            let result = results.next();
            if results.len() == 0 {
                stop.send_replace(true);
            }
            async move { result.unwrap_or(Ok(Pass::default())) }
        })
        .await;
        started.elapsed().as_millis()
    }

    fn down() -> Result<Pass, WorkError> {
        Err(WorkError::Query(QueryError::Unavailable("down".into())))
    }

    #[tokio::test(start_paused = true)]
    async fn loop_with_more_work_does_not_pause() {
        let full = || Ok(Pass { done: 256, more: true });
        assert_eq!(elapsed_ms(vec![full(), full(), Ok(Pass::default())]).await, 0);
        assert_eq!(elapsed_ms(vec![Ok(Pass::default()), Ok(Pass::default()), Ok(Pass::default())]).await / 100, 20);
    }

    #[tokio::test(start_paused = true)]
    async fn loop_that_fails_backs_off_and_recovers() {
        // The pauses are 2 s and 4 s after the failures, and 1 s after the success.
        assert_eq!(elapsed_ms(vec![down(), down(), Ok(Pass::default()), Ok(Pass::default())]).await / 100, 70);
        let failures = Failures { in_a_row: 30, logged: None };
        assert_eq!(failures.pause(Duration::from_secs(1)), MAX_PAUSE);
        assert_eq!(failures.pause(Duration::from_hours(1)), Duration::from_hours(1));
    }

    #[tokio::test(start_paused = true)]
    async fn pass_that_panics_counts_as_failure() {
        let (stop, stopped) = watch::channel(false);
        let passes = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&passes);
        run(rhythm(None), stopped, move || {
            let pass = counted.fetch_add(1, Ordering::SeqCst);
            if pass == 1 {
                stop.send_replace(true);
            }
            async move {
                assert!(pass > 0, "a bug");
                Ok(Pass::default())
            }
        })
        .await;
        assert_eq!(passes.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn notified_loop_wakes_at_once() {
        let (stop, stopped) = watch::channel(false);
        let wakeup = Wakeup::default();
        let passes = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&passes);
        let looped = tokio::spawn(run(rhythm(Some(wakeup.clone())), stopped, move || {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Ok(Pass::default()) }
        }));
        let started = tokio::time::Instant::now();
        for _ in 0..100 {
            let before = passes.load(Ordering::SeqCst);
            wakeup.notify();
            while passes.load(Ordering::SeqCst) == before {
                tokio::task::yield_now().await;
            }
        }
        assert!(started.elapsed() < Duration::from_secs(1));
        stop.send_replace(true);
        assert!(looped.await.is_ok());
    }
}
