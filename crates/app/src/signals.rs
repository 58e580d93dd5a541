//! SIGTERM and SIGINT: the first asks for a clean end, the second demands one at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit code after a second signal: 128 plus SIGINT, as shells count.
const FORCED: i32 = 130;

/// The signals that end the process.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from now on; the signals no longer kill the process.
    ///
    /// # Errors
    /// What the system says.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for one.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// From now on the next one ends the process without further ado; nothing that was answered is lost by it.
    pub fn force_exit_on_next(mut self) {
        tokio::spawn(async move {
            self.received().await;
            tracing::warn!("a second signal: ending at once");
            std::process::exit(FORCED);
        });
    }
}
