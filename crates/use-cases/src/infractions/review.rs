//! The cases that an operator decides, because the acquirer's records allow more than one conclusion.

use cais_domain::infraction::{Infraction, InfractionState, ReviewReason, left_of};
use cais_domain::money::{Money, MoneyError};
use cais_ports::{AcquirerError, UpstreamInfraction, alerts};
use jiff::{SignedDuration, Timestamp};

use super::dedup_log::is_first;
use super::dispute_context::DisputeContext;
use super::fetch::BACKGROUND_DEADLINE;
use super::med_returns::returned_or_in_flight;
use super::reconcile_status::Outcome;
use super::sync::SyncError;
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The longest time from the resolution of an infraction to the return of the money. DICT, the directory of Pix keys,
/// sets this rule for the institution that received the Pix. After this time, a missing return needs a review.
const RETURNED_WITHIN: SignedDuration = SignedDuration::from_hours(24);

/// The result of comparing an outcome with the returned amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// The outcome and the returned amount agree.
    Agrees,
    /// The acquirer may still return more.
    NotYet,
    /// An operator must decide.
    Review(ReviewReason),
}

/// Returns the amount of the Pix that its acquirer returned because of infractions, or is returning.
///
/// Call this function before the stored infractions on the Pix are read. Otherwise a return could be seen without the
/// infraction that caused it. If the acquirer does not show the Pix, the result is an error, and the infraction stays
/// unchanged until the next poll.
pub(super) async fn returned(ports: &Ports, ours: &Infraction) -> Result<Money, SyncError> {
    let acquirer = ports.acquirer(&ours.acquirer)?;
    let received = acquirer.find_received(&ours.end_to_end_id, BACKGROUND_DEADLINE.budget).await?;
    let not_shown = || AcquirerError::OutcomeUnknown("the acquirer does not show the disputed Pix".to_owned());
    Ok(returned_or_in_flight(&received.ok_or_else(not_shown)?.payment.returns)?)
}

/// Returns the part of `returned` that no lost infraction explains. If another infraction on the Pix is open, it may
/// explain the whole part, so the result is zero.
pub(super) fn unexplained(case: &DisputeContext, ours: &Infraction, returned: Money) -> Result<Money, StoreError> {
    let others = || case.infractions().iter().filter(|one| one.id != ours.id);
    if others().any(|one| one.state.status().is_open()) {
        return Ok(Money::ZERO);
    }
    let lost = case.infractions().iter().filter(|one| matches!(one.state, InfractionState::Lost { .. }));
    let explained = Money::sum(lost.map(|one| one.limit)).map_err(out_of_range)?;
    returned.checked_sub(explained).map_err(out_of_range)
}

/// Returns the largest amount that an infraction can take from the account: `amount`, limited to the part of the Pix
/// that infractions can still block ([`left_of`]).
pub(super) fn contested(case: &DisputeContext, amount: Money) -> Result<Money, StoreError> {
    let left = left_of(case.payment(), case.disputed().charge, case.infractions()).map_err(out_of_range)?;
    Ok(amount.min(left))
}

/// Compares an outcome with the returned amount.
///
/// If more than the expected amount was returned without an explanation, an operator must decide. Otherwise:
/// - If the dispute was never reopened, the outcome agrees, because the return may follow later.
/// - If a reopened dispute is accepted, an earlier round may already have returned the money. So the outcome agrees
///   only if the acquirer shows a return of the expected amount.
pub(super) fn compare(
    (case, ours, is_reopened): (&DisputeContext, &Infraction, bool),
    outcome: Outcome,
    upstream: &UpstreamInfraction,
    (returned, now): (Money, Timestamp),
) -> Result<Comparison, StoreError> {
    let unexplained = unexplained(case, ours, returned)?;
    let expected = match outcome {
        Outcome::Won | Outcome::Cancelled => Money::ZERO,
        Outcome::Lost => contested(case, if upstream.amount.is_positive() { upstream.amount } else { ours.amount })?,
    };
    let is_recent = upstream.resolved_at.is_some_and(|at| now.duration_since(at) < RETURNED_WITHIN);
    Ok(if unexplained > expected {
        Comparison::Review(ReviewReason::UnexplainedReturn)
    } else if !is_reopened || unexplained == expected || outcome != Outcome::Lost {
        Comparison::Agrees
    } else if is_recent {
        Comparison::NotYet
    } else {
        Comparison::Review(ReviewReason::MissingReturn)
    })
}

/// Raises the alert for a marked infraction once per process. A process may have crashed between the mark and the
/// alert, so every process raises it.
pub(super) fn alert(infraction: &Infraction) {
    if is_first(&infraction.acquirer, &infraction.id.to_string(), "needs review") {
        tracing::error!(
            alert = alerts::INFRACTION_NEEDS_REVIEW, infraction = %infraction.id, account = %infraction.account,
            acquirer = %infraction.acquirer, upstream = infraction.upstream_id, end_to_end_id = %infraction.end_to_end_id,
            reason = infraction.review.map(|review| review.reason.as_str()),
            "infraction needs a decision; its money stays blocked"
        );
    }
}

fn out_of_range(error: MoneyError) -> StoreError {
    StoreError::Internal(error.to_string())
}
