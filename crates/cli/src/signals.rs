//! SIGTERM, SIGINT and SIGHUP: the first signal starts a clean shutdown, the second ends the process at once.

use std::fs;
use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit code after a second signal: 128 plus the number of SIGINT, as in shells.
const FORCED: i32 = 130;
/// The file with the status of this process, which contains the mask of ignored signals.
const STATUS: &str = "/proc/self/status";

/// The signals that end the process.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// SIGHUP, which arrives when the terminal closes. `None` if the process was started with `nohup`: the signal then stays ignored.
    hangup: Option<Signal>,
}

impl Signals {
    /// Starts to handle the signals. From now on they no longer kill the process.
    ///
    /// # Errors
    /// The system rejects a handler.
    pub fn listen() -> io::Result<Self> {
        let is_ignored = fs::read_to_string(STATUS).is_ok_and(|status| ignores(&status, SignalKind::hangup()));
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: if is_ignored { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    /// Waits for a signal.
    pub async fn received(&mut self) {
        let Self { terminate, interrupt, hangup } = self;
        let hung_up = async {
            match hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hung_up => {}
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

/// Returns `true` if a process with this status ignores the signal. The mask is hexadecimal, and its lowest bit is signal 1.
fn ignores(status: &str, kind: SignalKind) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let bit = u32::try_from(kind.as_raw_value()).ok().and_then(|number| number.checked_sub(1));
    bit.and_then(|bit| mask.checked_shr(bit)).is_some_and(|rest| rest & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status = |mask: &str| {
            format!("Name:\tcais\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\nSigCgt:\t0000000000000001\n")
        };
        for (mask, hangup, terminate) in [
            ("0000000000000000", false, false),
            ("0000000000000001", true, false),
            ("0000000000001000", false, false),
            ("0000000000005001", true, true),
            ("nonsense", false, false),
        ] {
            let status = status(mask);
            assert_eq!(ignores(&status, SignalKind::hangup()), hangup, "{mask}");
            assert_eq!(ignores(&status, SignalKind::terminate()), terminate, "{mask}");
        }
        assert!(!ignores("", SignalKind::hangup()));
    }
}
