//! Resuming the creation of a charge whose process died or whose outcome was unknown.

use cais_domain::charge::{ChargeState, Step};
use cais_domain::ids::{ChargeId, RequestId};
use cais_ports::{ChangeSet, Claim, CommitError, Reservation, ReservationKey, Write};

use super::complete::{Creation, Outcome, complete};
use crate::idempotency::{Reopening, RequestLease, TakeOverError};
use crate::ports::Ports;
use crate::trouble::Trouble;

/// Takes over a claim that nobody holds, with the charge that is made under it.
///
/// A charge that was given up is asked for anew, if that is allowed, under its own id, if its external id is still free.
pub(super) async fn take_over(
    ports: &Ports,
    claim: &Claim,
    request: RequestId,
    reopening: Reopening,
) -> Result<Creation, TakeOverError> {
    let unreadable = |error: String| CommitError::Corrupt(format!("claim of {}: {error}", claim.resource));
    let id = ChargeId::parse(&claim.resource).map_err(|error| unreadable(error.to_string()))?;
    let found = ports.queries.find_charge(claim.name.account, id).await;
    let found = found.map_err(|error| CommitError::Unavailable(error.to_string()))?;
    let mut charge = found.ok_or_else(|| unreadable("there is no such charge".to_owned()))?;
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    let (retake, holding) = RequestLease::taken_over(claim, request, now);
    change.claim = Some(retake);
    // Nobody has what was given up, so everybody may be asked.
    let asked_before = !matches!(charge.state, ChargeState::Abandoned { .. });
    if !asked_before {
        let (Reopening::Allowed, Some(acquirer)) = (reopening, ports.acquirers.first()) else {
            return Err(TakeOverError::GivenUp);
        };
        if let Some(external_id) = charge.terms.external_id.clone() {
            let key = ReservationKey::ChargeExternalId(charge.account, external_id);
            change.reserve.push(Reservation { key, account: charge.account, owner: claim.resource.clone() });
        }
        let step = charge.clone().ask(acquirer).map_err(|error| unreadable(error.to_string()))?;
        if let Step::Taken { charge: asked, .. } = step {
            change.writes.push(Write::UpdateCharge(Box::new(asked.clone())));
            charge = asked;
            charge.version = charge.version.saturating_add(1);
        }
    }
    ports.store.commit(change).await?;
    Ok(Creation { charge, holding, asked_before })
}

/// Finishes a creation that nobody is at work on; `false` when that could not be done yet, or somebody else did it.
pub(crate) async fn resume(ports: &Ports, claim: Claim) -> Result<bool, Trouble> {
    if ports.acquirers.first().is_none() {
        // Nobody can be asked just now; the attempts would only be counted.
        return Ok(false);
    }
    let request = RequestId::new(ports.ids.next_uuid());
    let creation = match take_over(ports, &claim, request, Reopening::Denied).await {
        Ok(creation) => creation,
        // The caller repeats at this moment and was quicker, or whoever had it gave it up.
        Err(TakeOverError::GivenUp | TakeOverError::Commit(CommitError::Claimed { .. } | CommitError::Stale)) => {
            return Ok(false);
        }
        Err(TakeOverError::Commit(error)) => return Err(error.into()),
    };
    match complete(ports, creation).await? {
        Outcome::Answered(_) | Outcome::Abandoned => Ok(true),
        Outcome::Unknown | Outcome::TakenOver => Ok(false),
    }
}
