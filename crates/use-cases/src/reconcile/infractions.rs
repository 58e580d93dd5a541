//! Comparing what acquirers returned because of infractions with what those returned here.

use std::collections::BTreeSet;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::infraction::{Infraction, InfractionState};
use cais_domain::money::Money;
use cais_ports::UpstreamPayment;
use jiff::{SignedDuration, Timestamp};

use super::Run;
use super::report::{Difference, DifferenceKind};
use crate::infractions::poll;
use crate::infractions::returns::{one_is_on_its_way, taken_at, taken_back};
use crate::infractions::sync::{Applied, SyncError, find};
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::work::WorkError;

/// Within what time what an acquirer took is taken here as well, of what is in the part of its list that is read every minute; of
/// what was reopened it is believed a minute later. What is younger is no difference yet. Of what began longer ago the list is read
/// once an hour: so what is known is looked up before it is a difference, if things are to be repaired.
const FOLLOWED_WITHIN: SignedDuration = SignedDuration::from_mins(3);

/// Makes ours agree with what every acquirer says of infractions now.
pub(super) async fn follow(ports: &Ports) -> Result<(), WorkError> {
    poll::run_once(ports).await.map(drop)
}

/// What differs for one Pix of a charge. Less was returned here than there when the account lacked money: that part is the
/// house's loss, and only a person can settle it.
pub(super) async fn compare(
    run: &Run<'_>,
    name: &AcquirerName,
    charge: &Charge,
    payment: &UpstreamPayment,
) -> Result<Option<Difference>, Trouble> {
    let pix = &payment.end_to_end_id;
    let theirs = taken_back(&payment.returns)?;
    // A charge shows no sign of what was lost of money that was paid beyond it.
    let tells = run.ports.acquirers.named(name).is_some_and(|acquirer| acquirer.reports_infractions());
    if !tells && theirs.is_zero() && charge.open_infractions == 0 && charge.refunds.done.is_zero() {
        return Ok(None);
    }
    let now = run.ports.clock.now();
    let is_news = |at: Timestamp| now.duration_since(at) < FOLLOWED_WITHIN;
    if tells && (one_is_on_its_way(&payment.returns) || taken_at(&payment.returns).any(is_news)) {
        // It is about to be taken here.
        return Ok(None);
    }
    let infractions = run.ports.queries.list_infractions_of_pix(charge.account, pix).await?;
    let mut ours = Money::ZERO;
    for infraction in &infractions {
        if let InfractionState::Lost { returned, at, .. } = infraction.state {
            if run.is_young(at) {
                // Its return is on its way.
                return Ok(None);
            }
            ours = ours.checked_add(returned).map_err(|error| Trouble::Internal(error.to_string()))?;
        }
    }
    // One that is open may just have been lost there.
    if ours == theirs || infractions.iter().any(|infraction| infraction.state.status().is_open()) {
        return Ok(None);
    }
    if tells && run.repair && follow_known(run, name, &infractions).await? {
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

/// Looks the known infractions on a Pix up, wherever its acquirer's list was read; whether that changed one, or is about to.
async fn follow_known(run: &Run<'_>, name: &AcquirerName, infractions: &[Infraction]) -> Result<bool, Trouble> {
    let named = infractions.iter().map(|infraction| infraction.upstream_id.as_str()).collect::<BTreeSet<_>>();
    let mut moves = false;
    for id in named {
        moves |= match find(run.ports, name, id).await {
            Ok(Some(Applied::Stands { changed, .. })) => changed,
            Ok(Some(Applied::NotYet)) => true,
            Ok(Some(Applied::NotOurs | Applied::NotBelieved) | None) => false,
            Err(SyncError::Upstream(error)) => {
                tracing::warn!(acquirer = %name, upstream = id, %error, "an infraction could not be looked up for its difference");
                false
            }
            Err(SyncError::Store(trouble)) => return Err(trouble),
        };
    }
    Ok(moves)
}
