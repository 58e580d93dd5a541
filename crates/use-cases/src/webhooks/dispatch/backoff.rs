//! The pause after a failure of the store. The pause lasts until the dispatcher's next tick.

use std::fmt::Display;

/// The pause of one kind of request to the store, and the cause that was logged last.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    waiting: bool,
    failures: u32,
    logged: Option<String>,
}

impl Backoff {
    /// Returns whether requests must wait for the next tick.
    pub(super) const fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Pauses requests until the next tick. A cause is logged once, until a request succeeds or the cause changes.
    pub(super) fn on_failure(&mut self, request: &'static str, cause: &impl Display) {
        self.waiting = true;
        self.failures = self.failures.saturating_add(1);
        let cause = cause.to_string();
        if self.logged.as_ref() != Some(&cause) {
            tracing::warn!(
                request,
                cause,
                "request of the webhook dispatcher failed at the store; the request is retried at the next tick"
            );
            self.logged = Some(cause);
        }
    }

    /// Ends the pause.
    pub(super) const fn on_tick(&mut self) {
        self.waiting = false;
    }

    /// Ends the sequence of failures.
    pub(super) fn on_success(&mut self) {
        if self.failures > 0 {
            tracing::info!(
                failures = self.failures,
                "request of the webhook dispatcher succeeded after failures; deliveries continue"
            );
            *self = Self::default();
        }
    }
}
