//! Compares the ledger with the lists of the acquirers and of the crypto processor, in both directions. Missed payments
//! and missed outcomes can be repaired.
//!
//! To repair a difference, the charge, payout or refund is refreshed from the acquirer. The same holds for crypto
//! deposits and withdrawals. A Pix is credited only if it has a txid of this service. The comparison itself sends no
//! order. An order does not fail only because a list does not contain the order.

mod automatic;
mod deposits;
mod infractions;
mod lists;
mod payout_returns;
mod received;
mod report;
mod returns;
mod sent;
mod windows;
mod withdrawals;

pub use automatic::{AutomaticRun, ComparisonState, run_once};
pub use report::{Difference, DifferenceKind, MAX_DIFFERENCES, Progress, Report};

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::QueryError;
use jiff::{SignedDuration, Timestamp};

use crate::crypto::exposure;
use crate::ports::Ports;
use crate::store_error::StoreError;
use deposits::DepositList;
use received::ReceivedList;
use report::Findings;
use sent::SentList;
use windows::Windows;
use withdrawals::WithdrawalList;

/// The time for one page of a list.
const LIST_BUDGET: Duration = Duration::from_secs(30);
/// The time for reading a single record.
const LOOK_UP_BUDGET: Duration = Duration::from_secs(5);
/// The longest delay of a list. A local record that is younger may be missing in the list without being a difference.
const LISTS_LAG: SignedDuration = SignedDuration::from_mins(5);
/// The longest time from the request of a payout to its return: 90 days after the arrival, and a week for the transfer.
const RETURNS_WITHIN: SignedDuration = SignedDuration::from_hours(97 * 24);

/// The shared data of a run.
struct Run<'a> {
    ports: &'a Ports,
    from: Timestamp,
    until: Timestamp,
    repair: bool,
    progress: &'a (dyn Fn(Progress) + Send + Sync),
    /// Every configured acquirer and crypto processor.
    names: Vec<AcquirerName>,
}

impl Run<'_> {
    /// Returns whether a row of this instant may still be missing in the list.
    fn is_young(&self, at: Timestamp) -> bool {
        self.ports.clock.now().duration_since(at) < LISTS_LAG
    }

    fn done(&self, acquirer: &AcquirerName, list: &'static str, done: u64) {
        (self.progress)(Progress { acquirer: acquirer.clone(), list, done });
    }
}

/// Compares the Pix that were received or sent from `from` (inclusive) to `until` (exclusive). Also compares earlier
/// payouts that were returned in this time, and the crypto payments and withdrawals that were created in it. The coins
/// at the processor are compared with the ledger. If `repair` is set, missed payments and outcomes are repaired.
///
/// A failure at one acquirer, or in the local records of one acquirer, does not stop the comparison with the others.
///
/// # Errors
/// [`StoreError`] if the local records cannot be read and no row was compared.
pub async fn run(
    ports: &Ports,
    from: Timestamp,
    until: Timestamp,
    repair: bool,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Report, StoreError> {
    let run = Run { ports, from, until, repair, progress, names: names(ports) };
    let (mut findings, mut last_error) = (Findings::default(), None);
    for name in &ports.acquirers.names() {
        let Some(acquirer) = ports.acquirers.named(name) else {
            findings.cannot_read(name, "the acquirer or processor is not configured".to_owned());
            continue;
        };
        let mut compared =
            vec![lists::compare(&ReceivedList { run: &run, name, acquirer: &*acquirer }, &mut findings).await];
        if acquirer.sends_payouts() {
            compared.push(lists::compare(&SentList { run: &run, name, acquirer: &*acquirer }, &mut findings).await);
            compared.push(sent::compare_returns(&run, name, &*acquirer, &mut findings).await);
            compared.push(payout_returns::compare(&run, name, &*acquirer, &mut findings).await);
        }
        for error in compared.into_iter().filter_map(Result::err) {
            findings.cannot_read(name, format!("local records: {error}"));
            last_error = Some(error);
        }
    }
    if let Some(crypto) = &ports.crypto {
        let (processor, name) = (&*crypto.processor, crypto.processor.name());
        let compared = [
            lists::compare(&DepositList { run: &run, processor }, &mut findings).await,
            lists::compare(&WithdrawalList { run: &run, processor }, &mut findings).await,
        ];
        for error in compared.into_iter().filter_map(Result::err) {
            findings.cannot_read(name, format!("local records: {error}"));
            last_error = Some(error);
        }
        match exposure::read(ports, crypto).await {
            Ok(exposure) => findings.set_exposure(exposure),
            Err(error) => findings.cannot_read(name, format!("balances and their worth: {error}")),
        }
    }
    if let Err(error) = name_missing(&run, &mut findings).await {
        for name in &run.names {
            findings.cannot_read(name, format!("acquirers in local records: {error}"));
        }
        last_error = Some(error);
    }
    match last_error {
        Some(error) if findings.is_empty() => Err(error),
        Some(_) | None => Ok(findings.into_report()),
    }
}

/// Returns the names of the configured acquirers and of the crypto processor.
fn names(ports: &Ports) -> Vec<AcquirerName> {
    let processor = ports.crypto.as_ref().map(|crypto| crypto.processor.name().clone());
    ports.acquirers.names().into_iter().chain(processor).collect()
}

/// Adds the acquirers and processors that moved money but are not configured.
async fn name_missing(run: &Run<'_>, findings: &mut Findings) -> Result<(), StoreError> {
    let mut windows = Windows::new(run.from, run.until);
    while let Some((from, until)) = windows.current() {
        let names = match run.ports.queries.find_acquirers(from, until).await {
            // The store may have failed because of too many records, so a shorter window is read.
            Err(QueryError::Unavailable(_)) if windows.narrow() => continue,
            names => names?,
        };
        for name in names.iter().filter(|name| !run.names.contains(name)) {
            findings.cannot_read(name, "the acquirer or processor is not configured".to_owned());
        }
        windows.advance();
    }
    Ok(())
}
