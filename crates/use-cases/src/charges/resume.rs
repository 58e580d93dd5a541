//! Resuming creations whose process died or whose outcome was unknown.

use cais_domain::charge::{ChargeState, Step};
use cais_domain::ids::{ChargeId, RequestId};
use cais_ports::{ChangeSet, Claim, ClaimChange, CommitError, Reservation, ReservationKey, Write};
use futures_util::{StreamExt as _, stream};

use super::complete::{Creation, Outcome, complete};
use super::create::lease_from;
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::work::{AT_ONCE, PASS_LIMIT, Pass, WorkError};

/// Takes over a claim that nobody holds, with the charge that is made under it.
///
/// A charge that was given up is asked for anew, under its own id, if its external id is still free.
pub(super) async fn take_over(ports: &Ports, claim: &Claim, request: RequestId) -> Result<Creation, CommitError> {
    let unreadable = |error: String| CommitError::Corrupt(format!("claim of {}: {error}", claim.resource));
    let id = ChargeId::parse(&claim.resource).map_err(|error| unreadable(error.to_string()))?;
    let found = ports.queries.find_charge(claim.name.account, id).await;
    let found = found.map_err(|error| CommitError::Unavailable(error.to_string()))?;
    let mut charge = found.ok_or_else(|| unreadable("there is no such charge".to_owned()))?;
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    change.claim =
        Some(ClaimChange::Retake { name: claim.name.clone(), fence: claim.fence, lease_until: lease_from(now) });
    // Nobody has what was given up, so everybody may be asked.
    let asked_before = !matches!(charge.state, ChargeState::Abandoned { .. });
    if let ChargeState::Abandoned { acquirer, .. } = &charge.state {
        let acquirer = ports.acquirers.first().unwrap_or_else(|| acquirer.clone());
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
    let (name, fence) = (claim.name.clone(), claim.fence.saturating_add(1));
    Ok(Creation { charge, name, fence, request, asked_before })
}

/// Finishes what is overdue, a bounded number of creations.
///
/// # Errors
/// [`WorkError`] when the list of them cannot be read; trouble with one of them is logged and does not stop the others.
pub async fn run_once(ports: &Ports) -> Result<Pass, WorkError> {
    if ports.acquirers.first().is_none() {
        // Nobody can be asked just now; the attempts would only be counted.
        return Ok(Pass::default());
    }
    let claims = ports.queries.list_due_claims(ports.clock.now(), PASS_LIMIT).await?;
    let listed = claims.len();
    let done = stream::iter(claims)
        .map(|claim| async move {
            let resource = claim.resource.clone();
            match resume(ports, claim).await {
                Ok(finished) => usize::from(finished),
                Err(trouble) => {
                    tracing::warn!(resource, %trouble, "a creation could not be resumed");
                    0
                }
            }
        })
        .buffer_unordered(AT_ONCE)
        .fold(0_usize, |sum, one| async move { sum.saturating_add(one) })
        .await;
    Ok(Pass::of(listed, done))
}

async fn resume(ports: &Ports, claim: Claim) -> Result<bool, Trouble> {
    let request = RequestId::new(ports.ids.next_uuid());
    let creation = match take_over(ports, &claim, request).await {
        Ok(creation) => creation,
        // The caller repeats at this moment and was quicker.
        Err(CommitError::Claimed { .. } | CommitError::Stale) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    match complete(ports, creation).await? {
        Outcome::Answered(_) | Outcome::Abandoned => Ok(true),
        Outcome::Unknown | Outcome::TakenOver => Ok(false),
    }
}
