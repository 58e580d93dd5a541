//! Callers of the store. Each caller commits its next change after the change before is durable.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use futures_util::future::try_join_all;

use crate::CALLERS;
use crate::latency::Latencies;
use crate::numbers::per_second;
use crate::window::{Until, Window};

/// The result of the callers.
#[derive(Debug)]
pub struct CallResults<T> {
    /// The value that each call returned, also of calls that ended outside the counted time.
    pub returned: Vec<T>,
    /// The number of calls that ended in the counted time.
    pub measured: u64,
    /// The counted time: the load without its warm-up.
    pub elapsed: Duration,
    /// The duration of each call in `measured`.
    pub latencies: Latencies,
}

impl<T> CallResults<T> {
    /// Returns the counted calls per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        per_second(self.measured, self.elapsed)
    }
}

/// Runs `step` from all callers concurrently, until the load ends. The argument of `step` is the number of the call.
///
/// # Errors
/// The first error of a step.
pub async fn call<T, F>(until: Until, step: impl Fn(u64) -> F + Send + Sync + 'static) -> Result<CallResults<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send,
{
    let window = Arc::new(Window::open(until));
    let step = Arc::new(step);
    let tasks: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (window, step) = (Arc::clone(&window), Arc::clone(&step));
            tokio::spawn(async move { caller(&window, &*step).await })
        })
        .collect();
    let ran = try_join_all(tasks).await.context("a caller")?;
    let mut sum =
        CallResults { returned: Vec::new(), measured: 0, elapsed: window.elapsed(), latencies: Latencies::default() };
    for one in ran {
        let (returned, measured, latencies) = one?;
        sum.returned.extend(returned);
        sum.measured = sum.measured.saturating_add(measured);
        sum.latencies.merge(latencies);
    }
    Ok(sum)
}

async fn caller<T, F: Future<Output = Result<T>>>(
    window: &Window,
    step: &impl Fn(u64) -> F,
) -> Result<(Vec<T>, u64, Latencies)> {
    let (mut returned, mut measured, mut latencies) = (Vec::new(), 0_u64, Latencies::default());
    let mut began = Instant::now();
    while let Some(number) = window.next(began) {
        returned.push(step(number).await?);
        let ended = Instant::now();
        if window.counts(ended) {
            measured = measured.saturating_add(1);
            latencies.record(ended.duration_since(began));
        }
        began = ended;
    }
    Ok((returned, measured, latencies))
}
