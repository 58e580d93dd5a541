//! How much an acquirer took of a Pix that no lost infraction accounts for: what tells of ends that nobody saw.

use cais_domain::infraction::{Infraction, InfractionState, left_of};
use cais_domain::money::Money;
use cais_ports::{UpstreamInfraction, UpstreamInfractionStatus};
use jiff::{SignedDuration, Timestamp};

use super::case::Case;
use super::look::{AT_LEISURE, list_of_pix};
use super::returns::{one_is_on_its_way, taken_at, taken_back};
use super::rounds::{is_name, latest};
use super::sync::{SyncError, adapter};
use super::verdict::{LISTS_LAG, Verdict, judge};
use crate::ports::Ports;
use crate::trouble::Trouble;

/// Within what time of the end of an infraction its acquirer has returned what it returns of it: DICT's rule for who received the Pix.
const RETURNED_WITHIN: SignedDuration = SignedDuration::from_hours(24);

/// What weighing led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weighed {
    /// What was taken, or for what, is not known yet.
    TooEarly,
    /// So much was taken that no lost infraction accounts for; what is taken later is for something else.
    Unaccounted(Money),
}

/// What the acquirer took of the Pix of `ours` beyond what lost infractions on it account for, if nothing else can account for it.
///
/// `told` is what was decided about, and `last` says that another infraction that may have been lost unseen has the first claim.
/// What was taken is read before what the acquirer says of every infraction on the Pix: so what was accepted meanwhile is seen.
pub(super) async fn weigh(
    ports: &Ports,
    case: &Case,
    ours: &Infraction,
    told: &UpstreamInfraction,
    last: bool,
) -> Result<Weighed, SyncError> {
    let acquirer = adapter(ports, &ours.acquirer)?;
    let Some(received) = acquirer.find_received(&ours.end_to_end_id, AT_LEISURE.budget).await? else {
        return Ok(Weighed::TooEarly);
    };
    let returns = received.payment.returns;
    if one_is_on_its_way(&returns) {
        return Ok(Weighed::TooEarly);
    }
    let unaccounted = taken_back(&returns)?.checked_sub(accounted(case)?).map_err(out_of_range)?;
    if !unaccounted.is_positive() {
        return Ok(Weighed::Unaccounted(Money::ZERO));
    }
    let (now, paid_at) = (ports.clock.now(), case.payment().payment.paid_at);
    let rows = list_of_pix(&*acquirer, &ours.end_to_end_id, paid_at, now, AT_LEISURE).await?;
    let as_told = |row: &UpstreamInfraction| row.status == told.status && row.opened_at == told.opened_at;
    if !rows.iter().any(|row| row.id == ours.upstream_id && as_told(row)) {
        return Ok(Weighed::TooEarly);
    }
    // What is shown to be open may have been accepted a moment ago, and what was taken is taken for it.
    let may_be_theirs = rows.iter().any(is_open);
    let is_recent = |at: Timestamp| now.duration_since(at) < LISTS_LAG;
    if may_be_theirs && taken_at(&returns).any(is_recent) {
        return Ok(Weighed::TooEarly);
    }
    for row in rows.iter().filter(|row| row.id != ours.upstream_id) {
        if claims_first(ports, (ours, last), row, now).await? {
            return Ok(Weighed::TooEarly);
        }
    }
    Ok(Weighed::Unaccounted(unaccounted))
}

/// What is lost of `ours`, in a round after the first, which its acquirer accepted; `None` when that is not known yet.
pub(super) async fn lost_of(
    ports: &Ports,
    case: &Case,
    ours: &Infraction,
    told: &UpstreamInfraction,
) -> Result<Option<Money>, SyncError> {
    let left = left_of(case.payment(), case.disputed().charge, case.infractions()).map_err(out_of_range)?;
    let whole = ours.amount.min(left).min(if told.amount.is_positive() { told.amount } else { ours.amount });
    Ok(match weigh(ports, case, ours, told, false).await? {
        Weighed::Unaccounted(taken) if taken >= whole || all_is_shown(told, taken, ports.clock.now()) => Some(taken),
        Weighed::Unaccounted(_) | Weighed::TooEarly => None,
    })
}

/// Whether no more will be taken for one that was accepted.
fn all_is_shown(told: &UpstreamInfraction, taken: Money, now: Timestamp) -> bool {
    let ended_at = told.resolved_at;
    ended_at.map_or_else(|| taken.is_positive(), |at| now.duration_since(at) >= RETURNED_WITHIN)
}

/// What lost infractions on the Pix account for: what the account lacked of them was taken there all the same.
fn accounted(case: &Case) -> Result<Money, SyncError> {
    let lost = case.infractions().iter().filter(|one| matches!(one.state, InfractionState::Lost { .. }));
    Money::sum(lost.map(|one| one.limit)).map_err(out_of_range)
}

/// Whether another infraction on the Pix has to be decided before what was taken can be put down to ours. Of two that wait for
/// each other one goes first, by their names.
async fn claims_first(
    ports: &Ports,
    (ours, last): (&Infraction, bool),
    row: &UpstreamInfraction,
    now: Timestamp,
) -> Result<bool, SyncError> {
    if !is_name(&row.id) || !row.amount.is_positive() {
        return Ok(false);
    }
    let Some((round, known)) = latest(ports, &ours.acquirer, &row.id).await? else { return Ok(true) };
    let is_before = |it_is_last: bool| (it_is_last, &row.id) < (last, &ours.upstream_id);
    let may_be_older = round > 1;
    Ok(match judge(&known, may_be_older, row, now) {
        Verdict::TooEarly => true,
        Verdict::Lost => round <= 1 || is_before(false),
        Verdict::Defended(_) => row.status == UpstreamInfractionStatus::Accepted && (round <= 1 || is_before(false)),
        Verdict::LostUnseen | Verdict::ReopenedUnseen => is_before(false),
        Verdict::LostAgain => is_before(true),
        Verdict::Agrees | Verdict::Won | Verdict::Cancelled | Verdict::Reopened | Verdict::Contradicts => false,
    })
}

const fn is_open(row: &UpstreamInfraction) -> bool {
    match row.status {
        UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Defended => true,
        UpstreamInfractionStatus::Accepted
        | UpstreamInfractionStatus::Rejected
        | UpstreamInfractionStatus::Cancelled => false,
    }
}

fn out_of_range(error: cais_domain::money::MoneyError) -> SyncError {
    Trouble::Internal(error.to_string()).into()
}
