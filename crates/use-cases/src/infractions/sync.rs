//! Updates an infraction from its acquirer's report. Only this file applies such reports.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::InfractionId;
use cais_domain::infraction::{DisputeReport, Infraction, InfractionStatus, InfractionStep, ReviewReason};
use cais_domain::money::Money;
use cais_ports::{CommitError, UpstreamInfraction, UpstreamInfractionStatus, alerts};
use jiff::Timestamp;
use uuid::Uuid;

use super::changes::commit;
use super::dedup_log::is_first;
use super::dispute_context::DisputeContext;
use super::fetch::{BACKGROUND_DEADLINE, fetch_upstream};
use super::opened::{StepOutcome, open};
use super::reconcile_status::{Outcome, Verdict, is_young, judge};
use super::reopenings::{is_valid_id, latest};
use super::review::{self, Comparison};
use crate::ports::Ports;
use crate::store_error::StoreError;
pub(crate) use crate::upstream_order::SyncError;
use crate::upstream_text::{long, whole_microseconds};

/// The longest stored reason, in characters. DICT, the directory of Pix keys, has the same limit for the details of a
/// report.
const MAX_REASON: usize = 2_000;
/// The largest number of steps for one report. A report needs at most four: open, amend, confirm the defense, end.
/// Further steps repeat one of these after a concurrent change of the Pix or its blocks.
const MAX_STEPS: usize = 32;

/// The result of applying an acquirer's report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Applied {
    /// The stored infraction agrees with the report.
    Stands {
        /// The stored infraction.
        infraction: Box<Infraction>,
        /// `true` if this report changed the infraction.
        changed: bool,
    },
    /// The report can be applied later. Its Pix is not credited yet, the money of the accepted dispute is not returned
    /// yet, or the report may be outdated.
    Deferred,
    /// The report is about a Pix that was never credited here. An alert was raised.
    UnknownPix,
    /// The report is not applied: it contradicts stored facts, or it cannot be from this acquirer.
    Rejected,
}

/// Searches for the infraction in its acquirer's list and applies the found record. Returns `None` if the list does not
/// contain the infraction.
pub(crate) async fn find(ports: &Ports, name: &AcquirerName, id: &str) -> Result<Option<Applied>, SyncError> {
    let acquirer = ports.acquirer(name)?;
    if !acquirer.reports_infractions() || !is_valid_id(id) {
        tracing::error!(acquirer = %name, "acquirer reports no infractions, or the infraction's id is not valid; the infraction is not looked up");
        return Ok(Some(Applied::Rejected));
    }
    let known = latest(ports, name, id).await?;
    let opened_at = known.map(|(_, ours)| ours.opened_at);
    match fetch_upstream(&*acquirer, id, opened_at, ports.clock.now(), BACKGROUND_DEADLINE).await? {
        Some(upstream) => Ok(Some(apply(ports, name, upstream).await?)),
        None => Ok(None),
    }
}

/// Applies a report of `acquirer` on an infraction. The report can open the infraction, amend it, confirm its defense,
/// and resolve it. Each of these steps is a commit of its own. An infraction that is marked for review stays unchanged.
pub(crate) async fn apply(
    ports: &Ports,
    acquirer: &AcquirerName,
    mut upstream: UpstreamInfraction,
) -> Result<Applied, SyncError> {
    if !is_valid_id(&upstream.id) {
        alert_contradiction(acquirer, &upstream, "its id is not valid");
        return Ok(Applied::Rejected);
    }
    let mut changed = false;
    // The id and version of the stored infraction for which the acquirer's record was read again.
    let mut refetched_for: Option<(InfractionId, i64)> = None;
    for _ in 0..MAX_STEPS {
        let known = latest(ports, acquirer, &upstream.id).await?;
        let advance = match &known {
            None => Progress::OpenRound(1, None),
            Some((_, ours)) if ours.end_to_end_id != upstream.end_to_end_id => {
                alert_contradiction(acquirer, &upstream, "the acquirer reported another Pix before");
                return Ok(Applied::Rejected);
            }
            Some((_, ours)) if ours.needs_review() => {
                review::alert(ours);
                Progress::Unchanged
            }
            Some((round, ours)) => {
                let is_fresh = refetched_for == Some((ours.id, ours.version));
                advance(ports, ours, (*round, is_fresh), &upstream).await?
            }
        };
        let outcome = match (advance, known) {
            (Progress::OpenRound(round, review), _) => open(ports, acquirer, &upstream, (round, review)).await?,
            (Progress::Committed, _) => StepOutcome::Committed,
            (Progress::Unchanged, Some((_, ours))) => {
                return Ok(Applied::Stands { infraction: Box::new(ours), changed });
            }
            (Progress::TooEarly, _) => return Ok(Applied::Deferred),
            (Progress::RefetchFirst, Some((_, ours))) => {
                refetched_for = Some((ours.id, ours.version));
                let acquirer = ports.acquirer(acquirer)?;
                let fresh = fetch_upstream(
                    &*acquirer,
                    &upstream.id,
                    Some(upstream.opened_at),
                    ports.clock.now(),
                    BACKGROUND_DEADLINE,
                )
                .await?;
                let Some(fresh) = fresh else { return Ok(Applied::Deferred) };
                upstream = fresh;
                StepOutcome::ReadAgain
            }
            (Progress::Retry | Progress::Unchanged | Progress::RefetchFirst, _) => StepOutcome::ReadAgain,
        };
        match outcome {
            StepOutcome::Committed => changed = true,
            StepOutcome::ReadAgain => {}
            StepOutcome::NotApplied(applied) => return Ok(applied),
        }
    }
    Err(StoreError::contended().into())
}

/// The result of one step of [`apply`].
enum Progress {
    /// A step was committed.
    Committed,
    /// Another process changed the infraction, or a record that the decision depends on.
    Retry,
    /// A new infraction opens for this round, the number of the opening or reopening at the acquirer. If there is a
    /// reason, the infraction is marked for review.
    OpenRound(u32, Option<ReviewReason>),
    /// No step follows.
    Unchanged,
    /// The report may be outdated, or the money of the accepted dispute is not returned yet.
    TooEarly,
    /// The acquirer's record may be older than the stored infraction, so it is read again before the decision.
    RefetchFirst,
}

/// Applies the next step that follows from the acquirer's record, if there is one. `is_fresh` is `true` if the record
/// was read after the stored infraction.
async fn advance(
    ports: &Ports,
    ours: &Infraction,
    (round, is_fresh): (u32, bool),
    upstream: &UpstreamInfraction,
) -> Result<Progress, SyncError> {
    let (now, is_reopened, next) = (ports.clock.now(), round > 1, round.saturating_add(1));
    let verdict = judge(ours, upstream, now);
    let may_be_outdated = verdict.may_be_outdated(is_reopened);
    if may_be_outdated && is_young(ours, now) {
        return Ok(Progress::TooEarly);
    }
    if verdict == Verdict::AcceptedUnseen && ours.state.status() == InfractionStatus::Lost {
        let returned = review::returned(ports, ours).await?;
        if !review::unexplained(&DisputeContext::of(ports, ours).await?, ours, returned)?.is_positive() {
            return Ok(Progress::Unchanged);
        }
    }
    if may_be_outdated && !is_fresh {
        return Ok(Progress::RefetchFirst);
    }
    match verdict {
        Verdict::Reopened => return Ok(Progress::OpenRound(next, None)),
        Verdict::AcceptedUnseen => return Ok(Progress::OpenRound(next, Some(ReviewReason::ReopenedUnseen))),
        Verdict::ReopenedUnseen => return mark(ports, ours.clone(), ReviewReason::ReopenedUnseen, now).await,
        Verdict::Ends(outcome) => return end(ports, (ours, is_reopened), outcome, upstream).await,
        Verdict::Contradicts => {
            alert_contradiction(&ours.acquirer, upstream, "the acquirer contradicts its earlier report");
        }
        Verdict::Agrees | Verdict::Defended(_) => {}
    }
    if !ours.state.status().is_open() {
        return Ok(Progress::Unchanged);
    }
    let Some((case, infraction)) = as_read(ports, ours).await? else { return Ok(Progress::Retry) };
    // The record of a resolved dispute shows the returned amount. If that amount is lower than the stored amount, it
    // must not release blocked money.
    let frees = match upstream.status {
        UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Defended | UpstreamInfractionStatus::Undecided => {
            true
        }
        UpstreamInfractionStatus::Accepted
        | UpstreamInfractionStatus::Rejected
        | UpstreamInfractionStatus::Cancelled => false,
    };
    let amended = infraction.clone().amend(&amendment(&infraction, upstream, frees, now), case.disputed());
    match (amended.map_err(StoreError::from)?, verdict) {
        (amended @ InfractionStep::Taken(_), _) => progress_of(commit(ports, amended, now).await),
        (InfractionStep::AlreadyTaken(_), Verdict::Defended(defense)) => {
            if defense.is_some() && infraction.defense.is_some() {
                alert_contradiction(&ours.acquirer, upstream, "the acquirer shows another defense than the stored one");
            }
            progress_of(commit(ports, infraction.review(defense, now).map_err(StoreError::from)?, now).await)
        }
        (InfractionStep::AlreadyTaken(_), _) => Ok(Progress::Unchanged),
    }
}

/// Ends the infraction. If the returned amount contradicts the outcome, the infraction is marked for review instead.
async fn end(
    ports: &Ports,
    (ours, is_reopened): (&Infraction, bool),
    outcome: Outcome,
    upstream: &UpstreamInfraction,
) -> Result<Progress, SyncError> {
    let (returned, now) = (review::returned(ports, ours).await?, ports.clock.now());
    let Some((case, infraction)) = as_read(ports, ours).await? else { return Ok(Progress::Retry) };
    let comparison = review::compare((&case, &infraction, is_reopened), outcome, upstream, (returned, now))?;
    if comparison == Comparison::NotYet {
        return Ok(Progress::TooEarly);
    }
    let reported = amendment(&infraction, upstream, comparison == Comparison::Agrees, now);
    // A lost infraction takes precedence over the other infractions on its Pix.
    let amended = if (outcome, comparison) == (Outcome::Lost, Comparison::Agrees) {
        infraction.clone().take_precedence(Some(&reported), case.disputed())
    } else {
        infraction.clone().amend(&reported, case.disputed())
    };
    if let amended @ InfractionStep::Taken(_) = amended.map_err(StoreError::from)? {
        return progress_of(commit(ports, amended, now).await);
    }
    if let Comparison::Review(reason) = comparison {
        return mark(ports, infraction, reason, now).await;
    }
    let held = held(ports, ours).await?;
    let step = match outcome {
        Outcome::Won => infraction.win(case.disputed(), held, now),
        Outcome::Cancelled => infraction.cancel(case.disputed(), held, now),
        Outcome::Lost => infraction.lose(case.disputed(), held, now),
    };
    let committed = commit(ports, step.map_err(StoreError::from)?, now).await;
    if let (Outcome::Lost, Ok(lost)) = (outcome, &committed) {
        alert_shortfall(lost, held);
    }
    progress_of(committed)
}

async fn mark(ports: &Ports, ours: Infraction, reason: ReviewReason, now: Timestamp) -> Result<Progress, SyncError> {
    progress_of(commit(ports, ours.mark(reason, now).map_err(StoreError::from)?, now).await)
}

/// Reads the infraction and the other records of its Pix. Returns `None` if the infraction has changed since `ours` was
/// read.
async fn as_read(ports: &Ports, ours: &Infraction) -> Result<Option<(DisputeContext, Infraction)>, StoreError> {
    let case = DisputeContext::of(ports, ours).await?;
    let infraction = case.infraction(ours.id)?;
    Ok((infraction.version == ours.version).then_some((case, infraction)))
}

/// Returns the acquirer's current data of the infraction. If the reported amount is zero or negative, the stored amount
/// replaces it. The stored amount also replaces a lower amount, which would release blocked money, unless `frees` is
/// set.
fn amendment(infraction: &Infraction, upstream: &UpstreamInfraction, frees: bool, now: Timestamp) -> DisputeReport {
    let reported = dispute_report(&infraction.acquirer, upstream, now);
    let is_applied = reported.amount.is_positive() && (frees || reported.amount > infraction.amount);
    let amount = if is_applied { reported.amount } else { infraction.amount };
    DisputeReport { amount, ..reported }
}

fn progress_of(committed: Result<Infraction, CommitError>) -> Result<Progress, SyncError> {
    match committed {
        Ok(infraction) => {
            tracing::info!(infraction = %infraction.id, status = infraction.state.status().as_str(), "infraction updated from its acquirer's record");
            Ok(Progress::Committed)
        }
        Err(CommitError::Stale) => Ok(Progress::Retry),
        Err(error) => Err(StoreError::from(error).into()),
    }
}

/// Raises an alert if less money was blocked than the lost infraction requires.
pub(super) fn alert_shortfall(lost: &Infraction, held: Money) {
    if held < lost.limit {
        tracing::error!(
            alert = alerts::INFRACTION_SHORTFALL, infraction = %lost.id, charge = %lost.charge, %held, limit = %lost.limit,
            "infraction lost with less money blocked than its amount; an operator must agree on the difference with the merchant"
        );
    }
}

/// Returns the amount that the infraction blocks. If the block has ended meanwhile, the result is zero, and the
/// caller's commit fails with `Stale`.
pub(super) async fn held(ports: &Ports, infraction: &Infraction) -> Result<Money, StoreError> {
    let block = ports.queries.find_block(infraction.account, infraction.id).await?;
    Ok(block.map_or(Money::ZERO, |block| block.held))
}

/// Converts the report to the form that the domain rules require. The id is nil, because the code that opens the
/// infraction assigns one.
pub(super) fn dispute_report(acquirer: &AcquirerName, upstream: &UpstreamInfraction, now: Timestamp) -> DisputeReport {
    DisputeReport {
        id: InfractionId::new(Uuid::nil()),
        acquirer: acquirer.clone(),
        upstream_id: upstream.id.clone(),
        reason: upstream.reason.as_deref().map(|reason| long(reason, MAX_REASON)).filter(|reason| !reason.is_empty()),
        situation: upstream.situation,
        amount: upstream.amount,
        opened_at: whole_microseconds(upstream.opened_at).min(now),
        deadline_at: upstream.deadline_at.map(whole_microseconds),
    }
}

/// Returns `true` if this process has not logged `why` for the infraction before.
pub(super) fn is_first_alert(acquirer: &AcquirerName, upstream: &UpstreamInfraction, why: &str) -> bool {
    is_first(acquirer, &upstream.id, why)
}

/// Raises an alert for a report that is not valid or contradicts the stored records. The alert is raised once per
/// process.
pub(super) fn alert_contradiction(acquirer: &AcquirerName, upstream: &UpstreamInfraction, why: &'static str) {
    if is_first_alert(acquirer, upstream, why) {
        tracing::error!(
            alert = alerts::INFRACTION_CONTRADICTED, %acquirer, upstream = upstream.id, end_to_end_id = %upstream.end_to_end_id, amount = %upstream.amount,
            status = ?upstream.status, why, "acquirer's report of an infraction is not valid or contradicts the stored records; manual review needed"
        );
    }
}
