//! The findings of `cais doctor`: the lines of its report, and the limits above which a check warns or fails.

use jiff::{SignedDuration, Timestamp};

/// Free space, in bytes, below which `doctor` warns. An operator needs time to act before the disk is full.
const LOW_SPACE: u64 = 1024 * 1024 * 1024;
/// Free space, in bytes, below which the check fails. SQLite will soon reject writes.
const NO_SPACE: u64 = 64 * 1024 * 1024;
/// The difference of two clocks above which `doctor` warns. Smaller differences occur because an HTTP `Date` has whole seconds and is
/// delayed by the network.
const SMALL_SKEW: SignedDuration = SignedDuration::from_secs(5);
/// The difference of two clocks above which the check fails. Equals `cais_ports::CLOCK_DIFFERENCE`, the largest difference between the
/// clocks of two nodes that leases allow.
const LARGE_SKEW: SignedDuration = SignedDuration::from_secs(30);

/// The remaining validity of a certificate below which `doctor` warns. Acquirers need days to issue a new certificate.
const EXPIRES_SOON: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    Warning,
    Failed,
}

impl Status {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// A line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub(crate) status: Status,
    pub(crate) check: String,
    /// The state, and the next step if the check did not pass.
    pub(crate) message: String,
}

impl Finding {
    fn new(status: Status, check: impl Into<String>, message: impl Into<String>) -> Self {
        // A finding is printed on one line, but the message of a server may have several lines.
        let message = message.into().split_whitespace().collect::<Vec<_>>().join(" ");
        Self { status, check: check.into(), message }
    }

    /// Returns the finding of a check that passed.
    pub fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Status::Ok, check, message)
    }

    /// Returns the finding of a check that needs attention; `message` contains the next step.
    pub fn warning(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Status::Warning, check, message)
    }

    /// Returns the finding of a check that failed; `message` contains the next step.
    pub fn failed(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Status::Failed, check, message)
    }

    /// Returns the finding for the free space of a directory.
    #[must_use]
    pub fn of_free_space(bytes: u64, directory: &str) -> Self {
        let free = format!("{} MiB are free in {directory}", bytes / 1024 / 1024);
        let (status, advice) = match bytes {
            0..NO_SPACE => (Status::Failed, ": free some space now, because the database will soon refuse writes"),
            NO_SPACE..LOW_SPACE => (Status::Warning, ": free some space"),
            LOW_SPACE.. => (Status::Ok, ""),
        };
        Self::new(status, "disk", format!("{free}{advice}"))
    }

    /// Returns the finding for the clock of a server. `theirs` is its time, and `ours` is the time of this machine.
    #[must_use]
    pub fn of_clock(check: String, theirs: Timestamp, ours: Timestamp) -> Self {
        let ahead = theirs.duration_since(ours);
        let message = format!("differs from the clock of this machine by {:.1} s", ahead.as_secs_f64());
        let advice = "compare this machine with a time server (NTP)";
        match ahead.abs() {
            skew if skew > LARGE_SKEW => Self::failed(check, format!("{message}: {advice}")),
            skew if skew > SMALL_SKEW => Self::warning(check, format!("{message}: {advice}")),
            _ => Self::ok(check, "agrees with the clock of this machine"),
        }
    }

    /// Returns the finding for the expiry of an acquirer's certificate.
    #[must_use]
    pub fn of_expiry(check: String, expires_at: Timestamp, now: Timestamp) -> Self {
        let left = expires_at.duration_since(now);
        let advice = "request a new certificate from the acquirer";
        if left <= SignedDuration::ZERO {
            Self::failed(check, format!("expired at {expires_at}: {advice}"))
        } else if left < EXPIRES_SOON {
            Self::warning(check, format!("expires at {expires_at}: {advice}"))
        } else {
            Self::ok(check, format!("expires at {expires_at}"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn free_space_below_its_limits_warns_and_fails() {
        for (bytes, status) in [
            (0, Status::Failed),
            (NO_SPACE - 1, Status::Failed),
            (NO_SPACE, Status::Warning),
            (LOW_SPACE - 1, Status::Warning),
            (LOW_SPACE, Status::Ok),
        ] {
            assert_eq!(Finding::of_free_space(bytes, "/data").status, status, "{bytes}");
        }
    }

    #[test]
    fn clock_skew_is_checked_in_both_directions() {
        let ours = Timestamp::from_second(1_000_000).unwrap();
        for (ahead_s, status) in [
            (0, Status::Ok),
            (5, Status::Ok),
            (-5, Status::Ok),
            (6, Status::Warning),
            (-30, Status::Warning),
            (31, Status::Failed),
            (-31, Status::Failed),
        ] {
            let theirs = ours + SignedDuration::from_secs(ahead_s);
            assert_eq!(Finding::of_clock("clock".to_owned(), theirs, ours).status, status, "{ahead_s}");
        }
    }

    #[test]
    fn certificate_near_its_end_warns_and_after_it_fails() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        for (left_h, status) in
            [(-1, Status::Failed), (0, Status::Failed), (1, Status::Warning), (719, Status::Warning), (720, Status::Ok)]
        {
            let found = Finding::of_expiry("certificate".to_owned(), now + SignedDuration::from_hours(left_h), now);
            assert_eq!(found.status, status, "{left_h}");
        }
    }
}
