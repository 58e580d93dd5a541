//! Resuming creations of refunds whose process died.

use cais_domain::ids::{RefundId, RequestId};
use cais_domain::refund::{Refund, RefundState};
use cais_ports::{ChangeSet, Claim, CommitError, Write};

use super::complete::{Creation, Outcome, complete, under_way};
use crate::idempotency::RequestLease;
use crate::ports::Ports;
use crate::trouble::Trouble;

/// Finishes what is made under a claim that nobody holds; whether that is done now.
///
/// A refund that was given up stays so: its caller was told that nothing happened, and only its caller can ask again.
pub(crate) async fn resume(ports: &Ports, claim: Claim) -> Result<bool, Trouble> {
    let refund = of_claim(ports, &claim).await?;
    if let RefundState::Abandoned { .. } = &refund.state {
        return Ok(false);
    }
    let request = RequestId::new(ports.ids.next_uuid());
    let creation = match take_over(ports, &claim, refund, request).await {
        Ok(creation) => creation,
        // The caller repeats at this moment and was quicker, or its first process woke up.
        Err(CommitError::Claimed { .. } | CommitError::Stale) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    match complete(ports, creation).await? {
        Outcome::Answered(_) | Outcome::Abandoned => Ok(true),
        Outcome::TakenOver(_) => Ok(false),
    }
}

/// The refund that is made under the claim.
pub(super) async fn of_claim(ports: &Ports, claim: &Claim) -> Result<Refund, Trouble> {
    let unreadable = |error: String| Trouble::Internal(format!("claim of {}: {error}", claim.resource));
    let id = RefundId::parse(&claim.resource).map_err(|error| unreadable(error.to_string()))?;
    let found = ports.queries.find_refund(claim.name.account, id).await?;
    found.ok_or_else(|| unreadable("there is no such refund".to_owned()))
}

/// Takes over a claim that nobody holds, with the refund that is made under it and was not given up.
///
/// The refund is written, although nothing of it changes: so this and a late giving-up by its first process exclude each
/// other, and what was given up is never sent.
pub(super) async fn take_over(
    ports: &Ports,
    claim: &Claim,
    refund: Refund,
    request: RequestId,
) -> Result<Creation, CommitError> {
    let now = ports.clock.now();
    let (retake, holding) = RequestLease::taken_over(claim, request, now);
    let mut change = ChangeSet::new(now);
    change.claim = Some(retake);
    change.writes.push(Write::UpdateRefund(Box::new(refund.clone())));
    ports.store.commit(change).await?;
    Ok(under_way(refund, holding, true))
}
