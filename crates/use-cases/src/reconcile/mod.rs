//! Comparing the ledger with what the acquirers list, in both directions, and repairing what can be repaired safely.
//!
//! A payment that was missed is credited, and an outcome that was missed is taken over, by the same steps as ever: its charge,
//! payout or refund is refreshed from upstream. Nothing is credited that does not carry a txid of ours; nothing is sent, and
//! nothing is failed, by the comparison itself.

mod automatic;
mod infractions;
mod received;
mod report;
mod returns;
mod sent;
mod windows;

pub use automatic::{AutomaticRun, Standing, run_once};
pub use report::{Difference, DifferenceKind, MAX_DIFFERENCES, Progress, Report};

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::QueryError;
use jiff::{SignedDuration, Timestamp};

use crate::ports::Ports;
use crate::trouble::Trouble;
use report::Findings;
use windows::Windows;

/// How long one page of a list may take.
const LIST_BUDGET: Duration = Duration::from_secs(30);
/// How long a look at one thing may take.
const LOOK_BUDGET: Duration = Duration::from_secs(5);
/// How long an acquirer's list may lag: what is younger is not missed in it.
const LISTS_LAG: SignedDuration = SignedDuration::from_mins(5);
/// How long after it was asked for a payout can come back: 90 days after it arrived, and a week for its way there.
const RETURNS_WITHIN: SignedDuration = SignedDuration::from_hours(97 * 24);

/// What every part of a run needs.
struct Run<'a> {
    ports: &'a Ports,
    from: Timestamp,
    until: Timestamp,
    repair: bool,
    progress: &'a (dyn Fn(Progress) + Send + Sync),
    /// Every configured acquirer.
    names: Vec<AcquirerName>,
}

impl Run<'_> {
    /// Whether it is so young that an acquirer's list need not have it yet.
    fn is_young(&self, at: Timestamp) -> bool {
        self.ports.clock.now().duration_since(at) < LISTS_LAG
    }

    fn done(&self, acquirer: &AcquirerName, list: &'static str, done: u64) {
        (self.progress)(Progress { acquirer: acquirer.clone(), list, done });
    }
}

/// Compares what was received and sent from `from` on and before `until`, and what came back in that time of payouts that were sent
/// before. Repairs what is safe, if `repair`.
///
/// Every acquirer that can be read is read, whatever is wrong with the others, or with our own records of them.
///
/// # Errors
/// [`Trouble`] when our own records cannot be read and nothing was compared.
pub async fn run(
    ports: &Ports,
    from: Timestamp,
    until: Timestamp,
    repair: bool,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Report, Trouble> {
    let run = Run { ports, from, until, repair, progress, names: ports.acquirers.names() };
    let (mut findings, mut trouble) = (Findings::default(), None);
    for name in &run.names {
        let Some(acquirer) = ports.acquirers.named(name) else {
            findings.cannot_read(name, "it is not configured".to_owned());
            continue;
        };
        let mut compared = vec![received::compare(&run, name, &*acquirer, &mut findings).await];
        if acquirer.sends_payouts() {
            compared.push(sent::compare(&run, name, &*acquirer, &mut findings).await);
            compared.push(sent::compare_returns(&run, name, &*acquirer, &mut findings).await);
        }
        for error in compared.into_iter().filter_map(Result::err) {
            findings.cannot_read(name, format!("our own records: {error}"));
            trouble = Some(error);
        }
    }
    if let Err(error) = name_missing(&run, &mut findings).await {
        for name in &run.names {
            findings.cannot_read(name, format!("our own records, of which other acquirers there are: {error}"));
        }
        trouble = Some(error);
    }
    match trouble {
        Some(trouble) if findings.is_empty() => Err(trouble),
        Some(_) | None => Ok(findings.into_report()),
    }
}

/// Names the acquirers that received or sent something and are not configured any more.
async fn name_missing(run: &Run<'_>, findings: &mut Findings) -> Result<(), Trouble> {
    let mut windows = Windows::new(run.from, run.until);
    while let Some((from, until)) = windows.current() {
        let names = match run.ports.queries.find_acquirers(from, until).await {
            // Much happened: of a shorter time it can be told.
            Err(QueryError::Unavailable(_)) if windows.narrow() => continue,
            names => names?,
        };
        for name in names.iter().filter(|name| !run.names.contains(name)) {
            findings.cannot_read(name, "it is not configured".to_owned());
        }
        windows.advance();
    }
    Ok(())
}
