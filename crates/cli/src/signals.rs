//! SIGTERM and SIGINT: the first signal starts a clean shutdown, the second ends the process at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit code after a second signal: 128 plus the number of SIGINT, as in shells.
const FORCED: i32 = 130;

/// The signals that end the process.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Starts to handle the signals, which no longer kill the process.
    ///
    /// # Errors
    /// The system rejects a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for a signal.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Makes the next signal end the process at once. Acknowledged work is already durable.
    pub fn force_exit_on_next(mut self) {
        tokio::spawn(async move {
            self.received().await;
            tracing::warn!("second signal received; the process exits at once");
            std::process::exit(FORCED);
        });
    }
}
