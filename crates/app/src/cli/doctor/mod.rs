//! `cais doctor`: checks an installation and changes nothing.

mod database;
mod upstream;

use std::process::ExitCode;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::output::{Output, table};
use crate::config::warnings::{Warning, WarningKind, warnings};
use crate::config::{Config, Problem, Problems, Sources, data_dir_problem};
use crate::logging;

/// Free space below this limit is a warning, in bytes: an operator needs time before the disk is full.
const LOW_SPACE: u64 = 1024 * 1024 * 1024;
/// Free space below this limit is a failure, in bytes: SQLite soon rejects writes.
const NO_SPACE: u64 = 64 * 1024 * 1024;
/// A difference of two clocks above this is a warning. An HTTP `Date` is cut to the second and delayed by the network.
const SMALL_SKEW: SignedDuration = SignedDuration::from_secs(5);
/// A difference of two clocks above this is a failure: leases tolerate no greater difference between nodes.
const LARGE_SKEW: SignedDuration = SignedDuration::from_secs(30);

/// The installation that is checked.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Check an installation that is started with `cais serve --sandbox`
    #[arg(long)]
    pub sandbox: bool,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Ok,
    Warning,
    Failed,
}

impl Status {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// A line of the report.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    status: Status,
    check: String,
    /// The state, and the next step unless the state is good.
    message: String,
}

impl Finding {
    fn new(status: Status, check: impl Into<String>, message: impl Into<String>) -> Self {
        // A finding is printed on one line; a server's message may have several.
        let message = message.into().split_whitespace().collect::<Vec<_>>().join(" ");
        Self { status, check: check.into(), message }
    }

    fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Status::Ok, check, message)
    }

    fn warning(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Status::Warning, check, message)
    }

    fn failed(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Status::Failed, check, message)
    }
}

/// Checks everything and prints one line per check. The exit code is 1 when a check failed.
///
/// # Errors
/// Standard output cannot be written.
pub async fn run(sources: &Sources, output: Output) -> anyhow::Result<ExitCode> {
    let findings = match Config::load(sources) {
        Err(Problems(problems)) => problems.iter().map(of_problem).collect(),
        Ok(config) => {
            // Each finding names its cause; a log line would repeat it.
            logging::start("off", config.log_format);
            let mut findings = of_configuration(&config, sources);
            findings.push(disk(&config));
            findings.extend(database::check(&config).await);
            findings.extend(upstream::check(&config).await);
            findings
        }
    };
    print(&findings, output)
}

fn of_problem(problem: &Problem) -> Finding {
    Finding::failed("configuration", problem.to_string())
}

fn of_configuration(config: &Config, sources: &Sources) -> Vec<Finding> {
    let problems = config.world().err().into_iter().chain(data_dir_problem(sources));
    let mut findings: Vec<Finding> = problems.map(|problem| of_problem(&problem)).collect();
    if findings.is_empty() {
        findings.push(Finding::ok("configuration", "no mistakes"));
    }
    let found = warnings(config);
    if !found.iter().any(|warning| warning.kind == WarningKind::SecretFileReadable) {
        findings.push(Finding::ok("secret files", "not every user of this machine can read them"));
    }
    findings.extend(
        found.iter().map(|Warning { kind, key, what }| Finding::warning(kind.as_str(), format!("{key} {what}"))),
    );
    findings
}

fn disk(config: &Config) -> Finding {
    const CHECK: &str = "disk";
    let directory = &config.data_dir;
    match rustix::fs::statvfs(directory) {
        // A directory that cannot be created is a finding of the configuration.
        Err(rustix::io::Errno::NOENT) => {
            Finding::ok(CHECK, format!("{} does not exist yet; the first start creates it", directory.display()))
        }
        Err(error) => Finding::failed(CHECK, format!("the free space of {} is unknown: {error}", directory.display())),
        Ok(found) => of_free_space(found.f_bavail.saturating_mul(found.f_frsize), &directory.display().to_string()),
    }
}

fn of_free_space(bytes: u64, directory: &str) -> Finding {
    let free = format!("{} MiB are free in {directory}", bytes / 1024 / 1024);
    let (status, advice) = match bytes {
        0..NO_SPACE => (Status::Failed, ": make room, before the database refuses writes"),
        NO_SPACE..LOW_SPACE => (Status::Warning, ": make room"),
        LOW_SPACE.. => (Status::Ok, ""),
    };
    Finding::new(status, "disk", format!("{free}{advice}"))
}

/// Compares a clock with the clock of this machine.
fn of_clock(check: String, theirs: Timestamp, ours: Timestamp) -> Finding {
    let ahead = theirs.duration_since(ours);
    let message = format!("differs from the clock of this machine by {:.1} s", ahead.as_secs_f64());
    let advice = "compare this machine with a time server (NTP)";
    match ahead.abs() {
        skew if skew > LARGE_SKEW => Finding::failed(check, format!("{message}: {advice}")),
        skew if skew > SMALL_SKEW => Finding::warning(check, format!("{message}: {advice}")),
        _ => Finding::ok(check, "agrees with the clock of this machine"),
    }
}

fn print(findings: &[Finding], output: Output) -> anyhow::Result<ExitCode> {
    let ok = findings.iter().all(|finding| finding.status != Status::Failed);
    let checks: Vec<Value> = findings
        .iter()
        .map(|Finding { status, check, message }| json!({ "check": check, "status": status.as_str(), "message": message }))
        .collect();
    output.print(&json!({ "ok": ok, "checks": checks }), || {
        let row = |finding: &Finding| {
            vec![finding.status.as_str().to_owned(), finding.check.clone(), finding.message.clone()]
        };
        table(&["STATUS", "CHECK", "MESSAGE"], &findings.iter().map(row).collect::<Vec<_>>())
    })?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
            assert_eq!(of_free_space(bytes, "/data").status, status, "{bytes}");
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
            assert_eq!(of_clock("clock".to_owned(), theirs, ours).status, status, "{ahead_s}");
        }
    }
}
