//! Resuming the creation of a payout whose process died.

use cais_domain::ids::{PayoutId, RequestId};
use cais_domain::payout::{Payout, PayoutState, PayoutStep};
use cais_ports::{ChangeSet, Claim, CommitError, Reservation, ReservationKey, Write};

use super::complete::{Creation, Outcome, complete};
use super::sync::stored;
use crate::idempotency::{Holding, Reopening, TakeOverError};
use crate::ports::Ports;
use crate::trouble::Trouble;

/// Takes over a claim that nobody holds, with the payout that is made under it.
///
/// A payout that was given up is tried anew, if that is allowed, under its own id, if its external id is still free and its money
/// still there.
pub(super) async fn take_over(
    ports: &Ports,
    claim: &Claim,
    request: RequestId,
    reopening: Reopening,
) -> Result<Creation, TakeOverError> {
    let begun = begun(ports, claim).await?;
    let now = ports.clock.now();
    let mut change = ChangeSet::new(now);
    let (retake, holding) = Holding::taken_over(claim, request, now);
    change.claim = Some(retake);
    // The acquirer certainly does not have what was given up: sending it is a first time again.
    let asked_before = !matches!(begun.state, PayoutState::Abandoned { .. });
    let payout = if asked_before { begun } else { reopen(ports, begun, reopening, &mut change)? };
    // Even what stays as it is gets a new version: its first holder cannot give it up any more from the moment on at which
    // it is sent once more.
    change.writes.push(Write::UpdatePayout(Box::new(payout.clone())));
    ports.store.commit(change).await?;
    Ok(Creation { payout: stored(payout), holding, asked_before })
}

pub(super) async fn begun(ports: &Ports, claim: &Claim) -> Result<Payout, CommitError> {
    let unreadable = |error: String| CommitError::Corrupt(format!("claim of {}: {error}", claim.resource));
    let id = PayoutId::parse(&claim.resource).map_err(|error| unreadable(error.to_string()))?;
    let found = ports.queries.find_payout(claim.name.account, id).await;
    let found = found.map_err(|error| CommitError::Unavailable(error.to_string()))?;
    found.ok_or_else(|| unreadable("there is no such payout".to_owned()))
}

fn reopen(
    ports: &Ports,
    payout: Payout,
    reopening: Reopening,
    change: &mut ChangeSet,
) -> Result<Payout, TakeOverError> {
    let (Reopening::Allowed, Some(acquirer)) = (reopening, ports.acquirers.first_sender()) else {
        return Err(TakeOverError::GivenUp);
    };
    if let Some(external_id) = payout.terms.external_id.clone() {
        let key = ReservationKey::PayoutExternalId(payout.account, external_id);
        change.reserve.push(Reservation { key, account: payout.account, owner: payout.id.to_string() });
    }
    match payout.reopen(acquirer) {
        Ok(PayoutStep::Taken { payout, transfers, event: _ }) => {
            change.transfers = transfers;
            Ok(payout)
        }
        Ok(PayoutStep::AlreadyTaken(payout)) => Ok(payout),
        Err(error) => Err(TakeOverError::Commit(CommitError::Corrupt(error.to_string()))),
    }
}

/// Finishes a creation that nobody is at work on; `false` when somebody else did it.
pub(crate) async fn resume(ports: &Ports, claim: Claim) -> Result<bool, Trouble> {
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
        Outcome::TakenOver => Ok(false),
    }
}
