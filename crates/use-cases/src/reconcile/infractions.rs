//! Compares the amounts that acquirers returned because of infractions with the local amounts.

use std::collections::BTreeSet;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::infraction::{Infraction, InfractionState};
use cais_domain::money::Money;
use cais_ports::UpstreamPayment;
use jiff::{SignedDuration, Timestamp};

use super::Run;
use super::report::{Difference, DifferenceKind};
use crate::infractions::med_returns::{has_return_in_flight, return_times, returned_amount};
use crate::infractions::poll;
use crate::infractions::sync::{Applied, SyncError, find};
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::work::WorkError;

/// A return at the acquirer must be applied here within this time. A younger return is not a difference yet. The recent
/// part of an acquirer's list of infractions is read every minute, and a reopening is applied one minute later.
///
/// Older parts of this list are read once an hour. So, if the run repairs, a known infraction is read before a
/// difference is reported.
const FOLLOWED_WITHIN: SignedDuration = SignedDuration::from_mins(3);

/// Updates the stored infractions from the lists of all acquirers.
pub(super) async fn follow(ports: &Ports) -> Result<(), WorkError> {
    poll::run_once(ports).await.map(drop)
}

/// Returns the difference for one Pix of a charge. If the account did not have enough money, the local amount is lower
/// than the acquirer's. The difference is the shortfall: the acquirer holds less money for us than its `settlement`
/// account shows. A person must resolve it.
pub(super) async fn compare(
    run: &Run<'_>,
    name: &AcquirerName,
    charge: &Charge,
    payment: &UpstreamPayment,
) -> Result<Option<Difference>, StoreError> {
    let pix = &payment.end_to_end_id;
    let theirs = returned_amount(&payment.returns)?;
    // Without a sign of a lost infraction, there is nothing to compare. For an acquirer that reports infractions, the
    // signs are not enough: `charge.refunds` does not contain a loss of money that was paid beyond the charge's amount.
    let reports_infractions = run.ports.acquirers.named(name).is_some_and(|acquirer| acquirer.reports_infractions());
    if !reports_infractions && theirs.is_zero() && charge.open_infractions == 0 && charge.refunds.done.is_zero() {
        return Ok(None);
    }
    if run.ports.acquirers.named(name).is_some_and(|acquirer| !acquirer.lists_returns()) {
        return Ok(None);
    }
    let now = run.ports.clock.now();
    let is_recent = |at: Timestamp| now.duration_since(at) < FOLLOWED_WITHIN;
    if reports_infractions && (has_return_in_flight(&payment.returns) || return_times(&payment.returns).any(is_recent))
    {
        // The return will soon be applied here.
        return Ok(None);
    }
    let infractions = run.ports.queries.list_infractions_of_pix(charge.account, pix).await?;
    let mut ours = Money::ZERO;
    for infraction in &infractions {
        if let InfractionState::Lost { returned, at, .. } = infraction.state {
            if run.is_young(at) {
                // The acquirer may not show the return yet.
                return Ok(None);
            }
            ours = ours.checked_add(returned).map_err(|error| StoreError::Internal(error.to_string()))?;
        }
    }
    // An open infraction may have been lost at the acquirer just now.
    if ours == theirs || infractions.iter().any(|infraction| infraction.state.status().is_open()) {
        return Ok(None);
    }
    if reports_infractions && run.repair && follow_known(run, name, &infractions).await? {
        return Ok(None);
    }
    Ok(Some(Difference {
        kind: DifferenceKind::InfractionReturned,
        acquirer: name.clone(),
        resource: Some(charge.id.to_string()),
        upstream_id: pix.to_string(),
        ours: Some(ours.to_string()),
        theirs: Some(theirs.to_string()),
        repaired: false,
    }))
}

/// Reads the known infractions on a Pix at the acquirer, including those that [`follow`] did not read. Returns `true`
/// if one of them changed, or will change soon.
async fn follow_known(run: &Run<'_>, name: &AcquirerName, infractions: &[Infraction]) -> Result<bool, StoreError> {
    let named = infractions.iter().map(|infraction| infraction.upstream_id.as_str()).collect::<BTreeSet<_>>();
    let mut changes = false;
    for id in named {
        changes |= match find(run.ports, name, id).await {
            Ok(Some(Applied::Stands { changed, .. })) => changed,
            Ok(Some(Applied::Deferred)) => true,
            Ok(Some(Applied::UnknownPix | Applied::Rejected) | None) => false,
            Err(error @ (SyncError::Upstream(_) | SyncError::Unknown)) => {
                tracing::warn!(acquirer = %name, upstream = id, %error, "infraction could not be read at its acquirer; the difference stays");
                false
            }
            Err(SyncError::Store(error)) => return Err(error),
        };
    }
    Ok(changes)
}
