//! Creating a charge whose external id has an owner already: the owner is the answer, and stays it under the new key.

use cais_domain::charge::ChargeStatus;
use cais_domain::ids::ChargeId;
use cais_ports::{ChangeSet, Claim, ClaimChange, CommitError, NewClaim, StoredAnswer};
use jiff::Timestamp;

use super::create::{CreateCharge, CreateChargeError};
use crate::answer::Answer;
use crate::ports::Ports;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// A call whose external id has an owner; `None` when the owner has just given it up.
pub(super) async fn existing(
    ports: &Ports,
    command: &CreateCharge,
    owner: &str,
) -> Result<Option<Answer>, CreateChargeError> {
    let id = ChargeId::parse(owner).map_err(|error| Trouble::Internal(format!("{owner}: {error}")))?;
    let found = ports.queries.find_charge(command.account.id, id).await.map_err(Trouble::from)?;
    let charge = found.ok_or_else(|| Trouble::Internal(format!("{owner} owns an external id but does not exist")))?;
    match charge.state.status() {
        ChargeStatus::Creating => Err(CreateChargeError::ExternalIdInProgress { retry_after_s: RETRY_AFTER_S }),
        ChargeStatus::Abandoned => Ok(None),
        ChargeStatus::Pending
        | ChargeStatus::Paid
        | ChargeStatus::Expired
        | ChargeStatus::Cancelled
        | ChargeStatus::Refunded => {
            if charge.terms.amount != command.terms.amount {
                return Err(CreateChargeError::ExternalIdConflict);
            }
            let body = ports.representation.charge(&charge);
            remember(ports, command, owner, body).await.map(Some)
        }
    }
}

/// Keeps the answer 200 under the call's key, so that a repeat gets the same bytes.
async fn remember(
    ports: &Ports,
    command: &CreateCharge,
    owner: &str,
    body: Vec<u8>,
) -> Result<Answer, CreateChargeError> {
    let now = ports.clock.now();
    let answer = StoredAnswer { status: 200, request: command.request, body };
    let take = ClaimChange::Take(NewClaim {
        name: command.claim_name(),
        fingerprint: command.fingerprint,
        resource: owner.to_owned(),
        lease_until: now,
        answer: Some(answer.clone()),
    });
    let Some(claim) = keep(ports, take, now).await? else { return Ok(Answer::fresh(200, answer.body)) };
    if claim.fingerprint != command.fingerprint {
        return Err(CreateChargeError::KeyConflict);
    }
    if let Some(stored) = claim.answer {
        return Ok(Answer::replayed(stored));
    }
    if claim.lease_until > now {
        return Err(CreateChargeError::KeyInProgress { retry_after_s: RETRY_AFTER_S });
    }
    // A creation of this key was given up; the charge that has the external id now is its answer.
    let late = ClaimChange::Answer { name: claim.name, fence: claim.fence, answer: answer.clone() };
    match keep(ports, late, now).await? {
        None => Ok(Answer::fresh(200, answer.body)),
        Some(Claim { answer: Some(stored), .. }) => Ok(Answer::replayed(stored)),
        Some(Claim { answer: None, .. }) => Err(CreateChargeError::KeyInProgress { retry_after_s: RETRY_AFTER_S }),
    }
}

/// Changes a claim alone; the claim as it stands when it is another's.
async fn keep(ports: &Ports, claim: ClaimChange, now: Timestamp) -> Result<Option<Claim>, Trouble> {
    let change = ChangeSet { claim: Some(claim), ..ChangeSet::new(now) };
    match ports.store.commit(change).await {
        Ok(_) => Ok(None),
        Err(CommitError::Claimed { claim }) => Ok(Some(*claim)),
        Err(error) => Err(error.into()),
    }
}
