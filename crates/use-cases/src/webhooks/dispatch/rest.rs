//! A store that fails is asked again at the next tick, and told of once.

use std::fmt::Display;

/// Whether the store is left alone just now, and what was told of it.
#[derive(Debug, Default)]
pub(super) struct Rest {
    resting: bool,
    failures: u32,
    told: Option<String>,
}

impl Rest {
    /// Whether nothing is asked of the store before the next tick.
    pub(super) const fn is_resting(&self) -> bool {
        self.resting
    }

    /// The store failed: it is left alone until the next tick. The same cause is told once until the store works again.
    pub(super) fn begin(&mut self, what: &'static str, cause: &impl Display) {
        self.resting = true;
        self.failures = self.failures.saturating_add(1);
        let cause = cause.to_string();
        if self.told.as_ref() != Some(&cause) {
            tracing::warn!(what, cause, "webhooks wait for the store");
            self.told = Some(cause);
        }
    }

    /// A tick: the store is asked again.
    pub(super) const fn end(&mut self) {
        self.resting = false;
    }

    /// The store did what it was asked.
    pub(super) fn works(&mut self) {
        if self.failures > 0 {
            tracing::info!(failures = self.failures, "webhooks are delivered again");
            *self = Self::default();
        }
    }
}
