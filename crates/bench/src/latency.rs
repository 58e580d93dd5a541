//! The waits of callers. All waits are kept, so percentiles are exact.

use std::time::Duration;

use serde::Serialize;

use crate::numbers::{ratio, real};

/// The waits of many calls, in microseconds.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    waits_us: Vec<u32>,
}

/// Two percentiles of the waits of many calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// The median, in milliseconds.
    pub p50_ms: f64,
    /// The 99th percentile, in milliseconds.
    pub p99_ms: f64,
}

impl Latencies {
    /// Adds one wait.
    pub fn record(&mut self, wait: Duration) {
        self.waits_us.push(u32::try_from(wait.as_micros()).unwrap_or(u32::MAX));
    }

    /// Adds all waits of `other`.
    pub fn merge(&mut self, other: Self) {
        self.waits_us.extend(other.waits_us);
    }

    /// Returns the percentiles. Without waits, both are zero.
    #[must_use]
    pub fn percentiles(mut self) -> Percentiles {
        self.waits_us.sort_unstable();
        Percentiles { p50_ms: self.at(50), p99_ms: self.at(99) }
    }

    fn at(&self, percent: usize) -> f64 {
        let position = self.waits_us.len().saturating_mul(percent) / 100;
        let position = position.min(self.waits_us.len().saturating_sub(1));
        let wait = self.waits_us.get(position).copied().unwrap_or_default();
        ratio(real(u64::from(wait)), 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_waits_that_happened() {
        let mut log = Latencies::default();
        for milliseconds in 1..=100 {
            log.record(Duration::from_millis(milliseconds));
        }
        let found = log.percentiles();
        assert_eq!(format!("{found:?}"), "Percentiles { p50_ms: 51.0, p99_ms: 100.0 }");
        assert_eq!(Latencies::default().percentiles(), Percentiles::default());
    }
}
