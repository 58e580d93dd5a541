//! The cases that an operator decides, because the acquirer's records leave more than one answer.

use cais_domain::infraction::{Infraction, InfractionState, ReviewReason, left_of};
use cais_domain::money::{Money, MoneyError};
use cais_ports::{UpstreamInfraction, alerts};
use jiff::{SignedDuration, Timestamp};

use super::case::Case;
use super::look::AT_LEISURE;
use super::once::first_time;
use super::returns::leaving;
use super::sync::{SyncError, adapter};
use super::verdict::Outcome;
use crate::ports::Ports;
use crate::trouble::Trouble;

/// Within what time of the end of an infraction its acquirer returns the money: DICT's rule for the institution that received the Pix.
const RETURNED_WITHIN: SignedDuration = SignedDuration::from_hours(24);

/// The comparison of an outcome with the money that went back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Both agree.
    Agrees,
    /// More may go back.
    NotYet,
    /// An operator decides.
    Review(ReviewReason),
}

/// Returns how much of the Pix its acquirer returned, or is returning, because of infractions.
///
/// The acquirer is asked before the infractions on the Pix are read, so that each return is seen together with its infraction.
pub(super) async fn returned(ports: &Ports, ours: &Infraction) -> Result<Money, SyncError> {
    let acquirer = adapter(ports, &ours.acquirer)?;
    let received = acquirer.find_received(&ours.end_to_end_id, AT_LEISURE.budget).await?;
    Ok(received.map_or(Ok(Money::ZERO), |received| leaving(&received.payment.returns))?)
}

/// Returns the part of `returned` that no lost infraction explains. While another infraction on the Pix is open, that one explains it.
pub(super) fn unexplained(case: &Case, ours: &Infraction, returned: Money) -> Result<Money, Trouble> {
    let others = || case.infractions().iter().filter(|one| one.id != ours.id);
    if others().any(|one| one.state.status().is_open()) {
        return Ok(Money::ZERO);
    }
    let lost = case.infractions().iter().filter(|one| matches!(one.state, InfractionState::Lost { .. }));
    let explained = Money::sum(lost.map(|one| one.limit)).map_err(out_of_range)?;
    returned.checked_sub(explained).map_err(out_of_range)
}

/// Returns the most that an infraction can take from the account: what is left of its Pix, at most the disputed amount.
pub(super) fn contested(case: &Case, amount: Money) -> Result<Money, Trouble> {
    let left = left_of(case.payment(), case.disputed().charge, case.infractions()).map_err(out_of_range)?;
    Ok(amount.min(left))
}

/// Compares an outcome with the money that went back.
///
/// A first dispute that is accepted takes all that it holds: its return may follow. After a reopening the money may have gone back
/// before, so that the return has to be there.
pub(super) fn compare(
    (case, ours, is_reopened): (&Case, &Infraction, bool),
    outcome: Outcome,
    told: &UpstreamInfraction,
    (returned, now): (Money, Timestamp),
) -> Result<Comparison, Trouble> {
    let unexplained = unexplained(case, ours, returned)?;
    let expected = match outcome {
        Outcome::Won | Outcome::Cancelled => Money::ZERO,
        Outcome::Lost => contested(case, if told.amount.is_positive() { told.amount } else { ours.amount })?,
    };
    let is_recent = told.resolved_at.is_some_and(|at| now.duration_since(at) < RETURNED_WITHIN);
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

/// Raises the alert for a marked infraction, once in each process: a process that stopped after the mark raised none.
pub(super) fn alert(infraction: &Infraction) {
    if first_time(&infraction.acquirer, &infraction.id.to_string(), "needs review") {
        tracing::error!(
            alert = alerts::INFRACTION_NEEDS_REVIEW, infraction = %infraction.id, account = %infraction.account,
            acquirer = %infraction.acquirer, upstream = infraction.upstream_id, end_to_end_id = %infraction.end_to_end_id,
            reason = infraction.review.map(|review| review.reason.as_str()),
            "infraction needs a decision; its money stays blocked"
        );
    }
}

fn out_of_range(error: MoneyError) -> Trouble {
    Trouble::Internal(error.to_string())
}
