//! Reconciliation by the worker. Each list has a stored position: the instant up to which the list is compared. A pass
//! compares each list from shortly before its position up to now, in windows of at most one day.
//!
//! The position of a list advances after each complete window. So after an outage of any length, the worker catches up
//! in steps. A restart repeats only the overlap and the window that was in progress.
//!
//! Sent Pix are compared again for as long as they can be returned: 97 days. Each pass handles one of these days, in
//! turn: the payouts that were sent on the day, and the returns that were made on the day.
//!
//! Payments and withdrawals of a crypto processor are compared again for two days.

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{Acquirer, CryptoProcessor, PollPosition, UpstreamList, alerts};
use jiff::{SignedDuration, Timestamp};

use super::deposits::DepositList;
use super::received::ReceivedList;
use super::report::{Difference, DifferenceKind, Findings, Report};
use super::sent::SentList;
use super::windows::{WIDEST, Windows};
use super::withdrawals::WithdrawalList;
use super::{RETURNS_WITHIN, Run, infractions, lists, name_missing, names, payout_returns};
use crate::ports::Ports;
use crate::positions;
use crate::store_error::StoreError;
use crate::work::WorkError;

/// The part of a list before its position that is compared again, because rows can appear late.
const OVERLAP: SignedDuration = SignedDuration::from_hours(3);
/// The part of a crypto processor's list before its position that is compared again. A payment is listed when it is
/// created, and its coins arrive up to a day later.
const CRYPTO_OVERLAP: SignedDuration = SignedDuration::from_hours(48);
/// A payment that is not credited, or a row that cannot be read, keeps the position before its window for at most this
/// time. Each pass logs the payment or the row.
const MAX_POSITION_DELAY: SignedDuration = SignedDuration::from_hours(24);
/// If a position is ahead of now by more than [`OVERLAP`], a wrong clock wrote it. The comparison then starts at now
/// minus this time. A wrong clock is detected in less time.
const AFTER_WRONG_CLOCK: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The largest number of open findings that one pass logs. Each finding is one line.
const MAX_LOGGED: usize = 100;

/// The result of one pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutomaticRun {
    /// The number of repaired differences.
    pub done: usize,
    /// The state of the comparison with each configured acquirer and crypto processor.
    pub comparisons: Vec<ComparisonState>,
}

/// The state of the comparison with one acquirer or processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonState {
    /// The acquirer or processor.
    pub acquirer: AcquirerName,
    /// All rows from the first comparison up to this instant are compared. `None` if the local records could not be
    /// read, or the acquirer is no longer configured.
    pub compared_until: Option<Timestamp>,
    /// The number of findings of this pass that a person must review.
    pub open: usize,
}

/// A list, and the acquirer or processor that has it.
#[derive(Clone, Copy)]
enum Source<'a> {
    Received(&'a dyn Acquirer),
    Sent(&'a dyn Acquirer),
    Returns(&'a dyn Acquirer),
    Deposits(&'a dyn CryptoProcessor),
    Withdrawals(&'a dyn CryptoProcessor),
}

impl Source<'_> {
    const fn list(self) -> UpstreamList {
        match self {
            Self::Received(_) => UpstreamList::Received,
            Self::Sent(_) => UpstreamList::Sent,
            Self::Returns(_) => UpstreamList::Returns,
            Self::Deposits(_) => UpstreamList::CryptoDeposits,
            Self::Withdrawals(_) => UpstreamList::CryptoWithdrawals,
        }
    }

    const fn overlap(self) -> SignedDuration {
        match self {
            Self::Received(_) | Self::Sent(_) | Self::Returns(_) => OVERLAP,
            Self::Deposits(_) | Self::Withdrawals(_) => CRYPTO_OVERLAP,
        }
    }
}

/// A pass over all acquirers and the crypto processor.
struct Pass<'a> {
    ports: &'a Ports,
    now: Timestamp,
    /// The number of repaired differences.
    done: usize,
    /// The number of open findings of all acquirers and the processor.
    open: usize,
    /// The number of logged findings.
    logged: usize,
    /// `true` if the local records of at least one window could be read.
    has_read: bool,
    /// The last error of a read of the local records.
    error: Option<StoreError>,
}

/// Compares each list from shortly before its position up to now. Also compares the sent Pix of one day again. Repairs
/// missed payments and outcomes, and logs the differences.
///
/// Infractions are updated first, so that an infraction is a difference only if its outcome cannot be applied.
///
/// # Errors
/// [`WorkError`] if the infractions cannot be updated, or the local records cannot be read for any window.
pub async fn run_once(ports: &Ports) -> Result<AutomaticRun, WorkError> {
    infractions::follow(ports).await?;
    let now = ports.clock.now();
    let mut pass = Pass { ports, now, done: 0, open: 0, logged: 0, has_read: false, error: None };
    let mut comparisons = Vec::new();
    for name in ports.acquirers.names() {
        let before = pass.open;
        let compared_until = if let Some(acquirer) = ports.acquirers.named(&name) {
            pass.compare_all(&name, &*acquirer).await
        } else {
            cannot_read(&name, "the acquirer is not configured");
            None
        };
        comparisons.push(ComparisonState { acquirer: name, compared_until, open: pass.open.saturating_sub(before) });
    }
    if let Some(crypto) = &ports.crypto {
        let before = pass.open;
        let compared_until = pass.compare_processor(&*crypto.processor).await;
        let (acquirer, open) = (crypto.processor.name().clone(), pass.open.saturating_sub(before));
        comparisons.push(ComparisonState { acquirer, compared_until, open });
    }
    pass.find_missing().await;
    if pass.logged < pass.open {
        let (open, logged) = (pass.open, pass.logged);
        tracing::error!(
            alert = alerts::RECONCILE_DIFFERENCE,
            open,
            logged,
            "not all open differences are logged; manual comparison needed"
        );
    }
    match pass.error {
        Some(error) if !pass.has_read => Err(error.into()),
        Some(_) | None => Ok(AutomaticRun { done: pass.done, comparisons }),
    }
}

impl Pass<'_> {
    /// Compares every list of an acquirer. Returns the instant before which its received and sent Pix are compared.
    /// Returns `None` if the local records could not be read.
    async fn compare_all(&mut self, name: &AcquirerName, acquirer: &dyn Acquirer) -> Option<Timestamp> {
        let received = self.catch_up(name, Source::Received(acquirer)).await;
        if !acquirer.sends_payouts() {
            return self.or_record_error(name, received);
        }
        let sent = self.catch_up(name, Source::Sent(acquirer)).await;
        let returns = self.compare_returns(name, acquirer).await;
        self.or_record_error(name, returns);
        let (received, sent) = (self.or_record_error(name, received)?, self.or_record_error(name, sent)?);
        Some(received.min(sent))
    }

    /// Compares both lists of the crypto processor. Returns the instant before which both lists are compared, or `None`
    /// after an error of the local records.
    async fn compare_processor(&mut self, processor: &dyn CryptoProcessor) -> Option<Timestamp> {
        let name = processor.name();
        let deposits = self.catch_up(name, Source::Deposits(processor)).await;
        let withdrawals = self.catch_up(name, Source::Withdrawals(processor)).await;
        let (deposits, withdrawals) = (self.or_record_error(name, deposits), self.or_record_error(name, withdrawals));
        Some(deposits?.min(withdrawals?))
    }

    /// Compares a list from shortly before its position up to now. Returns the new position.
    async fn catch_up(&mut self, name: &AcquirerName, source: Source<'_>) -> Result<Timestamp, StoreError> {
        let mut position = match self.ports.queries.find_position(name, source.list()).await? {
            Some(position) => self.checked(position).await?,
            None => positions::first(self.ports, name, source.list(), self.now).await?,
        };
        let mut windows = Windows::new(earlier(position.seen_until.min(self.now), source.overlap()), self.now);
        // If an old window cannot be compared, the position stays before it. The newer windows are still compared.
        let mut kept_back = Timestamp::MAX;
        while let Some((from, until)) = windows.current() {
            let report = self.compare(name, source, (from, until)).await;
            if !report.unread.is_empty() {
                kept_back = kept_back.min(from);
            } else if has_retryable_finding(&report) {
                kept_back = kept_back.min(from.max(earlier(self.now, MAX_POSITION_DELAY)));
            }
            let reached = until.min(kept_back);
            if reached > position.seen_until {
                position = positions::move_to(self.ports, position, reached).await?;
            }
            windows.advance();
        }
        Ok(position.seen_until)
    }

    /// Returns the position. If a wrong clock wrote it, moves the position back and returns the new one.
    async fn checked(&self, position: PollPosition) -> Result<PollPosition, StoreError> {
        if position.seen_until <= later(self.now, OVERLAP) {
            return Ok(position);
        }
        let (acquirer, list, ahead) = (&position.acquirer, position.list.as_str(), position.seen_until);
        tracing::error!(alert = alerts::CLOCK_SKEW, %acquirer, list, %ahead, "position of a list is ahead of the clock; the last week is compared");
        positions::move_to(self.ports, position, earlier(self.now, AFTER_WRONG_CLOCK)).await
    }

    /// Compares the payouts that were sent on one day, with their returns. Also compares the returns of that day that
    /// the acquirer lists apart from their payouts.
    ///
    /// Each pass handles the day after that of the last pass. After today, the passes begin again with the day 97 days
    /// ago. A day that cannot be read is skipped until its next turn, so that the day does not delay the others.
    async fn compare_returns(&mut self, name: &AcquirerName, acquirer: &dyn Acquirer) -> Result<(), StoreError> {
        let oldest = day(earlier(self.now, RETURNS_WITHIN));
        let position = match self.ports.queries.find_position(name, UpstreamList::Returns).await? {
            Some(position) => position,
            None => positions::first(self.ports, name, UpstreamList::Returns, oldest).await?,
        };
        let in_round = (oldest..self.now).contains(&position.seen_until);
        let from = if in_round { position.seen_until } else { oldest };
        let end = later(day(from), WIDEST);
        self.compare(name, Source::Returns(acquirer), (from, end.min(self.now))).await;
        let next = if end < self.now { end } else { oldest };
        positions::move_to(self.ports, position, next).await.map(drop)
    }

    /// Compares one window of a list and logs the findings.
    async fn compare(
        &mut self,
        name: &AcquirerName,
        source: Source<'_>,
        (from, until): (Timestamp, Timestamp),
    ) -> Report {
        let run = Run { ports: self.ports, from, until, repair: true, progress: &|_| {}, names: Vec::new() };
        let mut findings = Findings::default();
        let compared = match source {
            Source::Received(acquirer) => {
                lists::compare(&ReceivedList { run: &run, name, acquirer }, &mut findings).await
            }
            Source::Sent(acquirer) => lists::compare(&SentList { run: &run, name, acquirer }, &mut findings).await,
            Source::Returns(acquirer) => {
                let sent = lists::compare(&SentList { run: &run, name, acquirer }, &mut findings).await;
                sent.and(payout_returns::compare(&run, name, acquirer, &mut findings).await)
            }
            Source::Deposits(processor) => lists::compare(&DepositList { run: &run, processor }, &mut findings).await,
            Source::Withdrawals(processor) => {
                lists::compare(&WithdrawalList { run: &run, processor }, &mut findings).await
            }
        };
        if let Err(error) = compared {
            findings.cannot_read(name, format!("local records: {error}"));
            self.error = Some(error);
        } else {
            self.has_read = true;
        }
        let report = findings.into_report();
        self.note(&report);
        report
    }

    /// Logs the acquirers and processors that moved money within the last [`OVERLAP`] and are not configured.
    async fn find_missing(&mut self) {
        let names = names(self.ports);
        let from = earlier(self.now, OVERLAP);
        let run = Run { ports: self.ports, from, until: self.now, repair: true, progress: &|_| {}, names };
        let mut findings = Findings::default();
        let named = name_missing(&run, &mut findings).await;
        self.note(&findings.into_report());
        self.error = named.err().or(self.error.take());
    }

    fn or_record_error<T>(&mut self, name: &AcquirerName, result: Result<T, StoreError>) -> Option<T> {
        result
            .map_err(|error| {
                cannot_read(name, &format!("local records: {error}"));
                self.error = Some(error);
            })
            .ok()
    }

    fn note(&mut self, report: &Report) {
        for (acquirer, reason) in &report.unread {
            cannot_read(acquirer, reason);
        }
        for (acquirer, row) in &report.unreadable {
            if self.may_log() {
                let (name, reason) = (&row.name, &row.reason);
                tracing::error!(alert = alerts::RECONCILE_ROW_UNREADABLE, %acquirer, name, reason, "row of an acquirer's list cannot be read; the other rows are compared");
            }
        }
        for difference in &report.differences {
            self.done = self.done.saturating_add(usize::from(difference.repaired));
            if difference.repaired || self.may_log() {
                log(difference);
            }
        }
        self.open = self.open.saturating_add(usize::from(report.more));
    }

    /// Counts an open finding. Returns `true` if it may be logged.
    fn may_log(&mut self) -> bool {
        self.open = self.open.saturating_add(1);
        let room = self.logged < MAX_LOGGED;
        self.logged = self.logged.saturating_add(usize::from(room));
        room
    }
}

/// Logs that an acquirer was not compared to the end of its lists.
fn cannot_read(acquirer: &AcquirerName, reason: &str) {
    tracing::warn!(%acquirer, reason, "acquirer not compared to the end of its lists; the next run compares it again");
}

/// Returns whether the report has an unreadable row, or a payment that was not credited. A later pass may read the row
/// or credit the payment.
fn has_retryable_finding(report: &Report) -> bool {
    let missed = |found: &Difference| {
        matches!(found.kind, DifferenceKind::PaymentMissed | DifferenceKind::DepositMissed) && !found.repaired
    };
    !report.unreadable.is_empty() || report.differences.iter().any(missed)
}

fn log(difference: &Difference) {
    let Difference { kind, acquirer, resource, upstream_id, ours, theirs, repaired } = difference;
    let (kind, resource) = (kind.as_str(), resource.as_deref().unwrap_or_default());
    let (ours, theirs) = (ours.as_deref().unwrap_or("nothing"), theirs.as_deref().unwrap_or("nothing"));
    if *repaired {
        tracing::warn!(kind, %acquirer, resource, upstream_id, ours, theirs, "difference with an acquirer repaired");
    } else {
        tracing::error!(alert = alerts::RECONCILE_DIFFERENCE, kind, %acquirer, resource, upstream_id, ours, theirs, "ledger differs from an acquirer; manual review needed");
    }
}

/// Returns the start of the instant's day in UTC. The windows of returns are whole days.
fn day(at: Timestamp) -> Timestamp {
    let length = WIDEST.as_secs();
    let begun = at.as_second().div_euclid(length).saturating_mul(length);
    Timestamp::from_second(begun).unwrap_or(Timestamp::MIN)
}

fn earlier(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_sub(by).unwrap_or(Timestamp::MIN)
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}
