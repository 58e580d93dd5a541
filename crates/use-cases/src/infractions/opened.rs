//! Opens an infraction on a Pix that was credited here.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{ChargeId, InfractionId};
use cais_domain::infraction::{DisputeReport, Infraction, InfractionStep, Review, ReviewReason};
use cais_domain::txid::Txid;
use cais_ports::{CommitError, Reservation, ReservationKey, UpstreamInfraction, alerts};

use super::changes::change_set;
use super::dispute_context::DisputeContext;
use super::fetch::BACKGROUND_DEADLINE;
use super::reopenings;
use super::sync::{Applied, SyncError, alert_contradiction, dispute_report, is_first_alert};
use crate::charges;
use crate::charges::sync::SyncError as ChargeSyncError;
use crate::ports::Ports;
use crate::store_error::StoreError;

/// The result of one step of an infraction: its opening, or a later step.
pub(super) enum StepOutcome {
    /// The step was committed.
    Committed,
    /// Another process made the step, or changed a record that the decision depends on. The records must be
    /// read again.
    ReadAgain,
    /// The step is not possible, or not possible yet.
    NotApplied(Applied),
}

/// Opens an infraction for a new round: the first opening at the acquirer, or a later reopening. With a `review`
/// reason, the infraction is marked for review at once.
pub(super) async fn open(
    ports: &Ports,
    acquirer: &AcquirerName,
    upstream: &UpstreamInfraction,
    (round, review): (u32, Option<ReviewReason>),
) -> Result<StepOutcome, SyncError> {
    if !is_plausible(acquirer, upstream, round) {
        return Ok(StepOutcome::NotApplied(Applied::Rejected));
    }
    let charge = match charge_of(ports, acquirer, upstream).await? {
        Ok(charge) => charge,
        Err(applied) => return Ok(StepOutcome::NotApplied(applied)),
    };
    let case = DisputeContext::read(ports, charge.account, charge.id, &upstream.end_to_end_id).await?;
    if case.payment().payment.acquirer != *acquirer {
        alert_contradiction(acquirer, upstream, "its Pix was received by another acquirer");
        return Ok(StepOutcome::NotApplied(Applied::Rejected));
    }
    let now = ports.clock.now();
    let new = DisputeReport { id: InfractionId::new(ports.ids.next_uuid()), ..dispute_report(acquirer, upstream, now) };
    let mut opened = match Infraction::open(new, case.disputed(), now).map_err(StoreError::from)? {
        InfractionStep::Taken(opened) => *opened,
        InfractionStep::AlreadyTaken(_) => return Ok(StepOutcome::ReadAgain),
    };
    opened.infraction.review = review.map(|reason| Review { reason, since: now });
    let (mut change, infraction) = (change_set(ports, &opened, now), &opened.infraction);
    change.reserve.push(Reservation {
        key: reopenings::key(acquirer, &upstream.id, round),
        account: infraction.account,
        owner: infraction.id.to_string(),
    });
    match ports.store.commit(change).await {
        Ok(_) => {
            tracing::warn!(
                infraction = %infraction.id, charge = %infraction.charge, %acquirer, upstream = upstream.id, round,
                amount = %infraction.amount, limit = %infraction.limit, "infraction opened on a received Pix; its money is blocked"
            );
            Ok(StepOutcome::Committed)
        }
        Err(CommitError::Taken { key: ReservationKey::Infraction(_), .. } | CommitError::Stale) => {
            Ok(StepOutcome::ReadAgain)
        }
        Err(error) => Err(StoreError::from(error).into()),
    }
}

/// Returns whether the report can open an infraction. Raises an alert if it cannot.
fn is_plausible(acquirer: &AcquirerName, upstream: &UpstreamInfraction, round: u32) -> bool {
    let why = if round > reopenings::MAX_ROUNDS {
        "the infraction was reopened too often"
    } else if upstream.amount.is_positive() {
        return true;
    } else {
        "the disputed amount is not positive"
    };
    alert_contradiction(acquirer, upstream, why);
    false
}

/// Returns the charge to which the Pix was credited. If the Pix is not credited yet, it is read from the acquirer and
/// credited now. If that is not possible now, no infraction is opened, and the inner error is the result for the
/// report.
async fn charge_of(
    ports: &Ports,
    name: &AcquirerName,
    upstream: &UpstreamInfraction,
) -> Result<Result<Charge, Applied>, SyncError> {
    if let Some(charge) = credited(ports, &upstream.end_to_end_id).await? {
        return Ok(Ok(charge));
    }
    let acquirer = ports.acquirer(name)?;
    let Some(received) = acquirer.find_received(&upstream.end_to_end_id, BACKGROUND_DEADLINE.budget).await? else {
        return Ok(Err(defer(name, upstream, "its acquirer does not show its Pix")));
    };
    let charge = match received.txid {
        Some(txid) => ports.queries.find_charge_by_txid(&txid).await.map_err(StoreError::from)?,
        None => None,
    };
    let Some(charge) = charge else {
        return Ok(Err(report_unknown_pix(name, upstream, "its Pix is not for a charge of ours")));
    };
    match charges::sync::refresh_seen(ports, charge, name, BACKGROUND_DEADLINE.budget).await {
        Ok(seen) if seen.returned_in_full.contains(&upstream.end_to_end_id) => {
            return Ok(Err(report_unknown_pix(name, upstream, "its Pix was returned before it was credited")));
        }
        Ok(_) | Err(ChargeSyncError::Unknown | ChargeSyncError::NotShown) => {}
        Err(ChargeSyncError::Upstream(error)) => return Err(error.into()),
        Err(ChargeSyncError::Store(error)) => return Err(error.into()),
    }
    let charge = credited(ports, &upstream.end_to_end_id).await?;
    Ok(charge.ok_or_else(|| defer(name, upstream, "its Pix is not credited yet")))
}

/// Returns the charge to which the Pix was credited. Returns `None` if the Pix is not credited.
async fn credited(ports: &Ports, end_to_end_id: &EndToEndId) -> Result<Option<Charge>, StoreError> {
    let Some(owner) = ports.queries.find_owner(&ReservationKey::EndToEndId(end_to_end_id.clone())).await? else {
        return Ok(None);
    };
    let id = ChargeId::parse(&owner).map_err(|error| StoreError::Internal(format!("{owner}: {error}")))?;
    let charge = ports.queries.find_charge_by_txid(&Txid::of_charge(id)).await?;
    charge.map(Some).ok_or_else(|| StoreError::Internal(format!("{id}, which {end_to_end_id} paid, is missing")))
}

fn defer(acquirer: &AcquirerName, upstream: &UpstreamInfraction, why: &'static str) -> Applied {
    if is_first_alert(acquirer, upstream, why) {
        tracing::warn!(%acquirer, upstream = upstream.id, end_to_end_id = %upstream.end_to_end_id, why, "infraction not opened yet: its Pix is not credited");
    }
    Applied::Deferred
}

fn report_unknown_pix(acquirer: &AcquirerName, upstream: &UpstreamInfraction, why: &'static str) -> Applied {
    if is_first_alert(acquirer, upstream, why) {
        tracing::error!(
            alert = alerts::INFRACTION_UNMATCHED, %acquirer, upstream = upstream.id, end_to_end_id = %upstream.end_to_end_id, amount = %upstream.amount, why,
            "infraction is about a Pix that was not credited here; manual review needed"
        );
    }
    Applied::UnknownPix
}
