//! Making a refund agree with what its acquirer says of it.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::refund::{Refund, RefundError, RefundStep};
use cais_ports::{Acquirer, AcquirerError, CommitError, UpstreamReturn};

use super::ROUNDS;
use super::decide::{change_set, charge_of, complain, decide, reread, stored, unless_outdated};
use super::upstream::agrees;
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::upstream_result::UpstreamResult;

/// Why a refund could not be made to agree with upstream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyncError {
    /// Upstream has no answer.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
    /// The acquirer does not know the refund, or not yet.
    #[error("the acquirer does not know the refund")]
    Unknown,
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// Reads the truth at the acquirer that received the Pix, and applies it.
pub(crate) async fn refresh(ports: &Ports, refund: Refund, budget: Duration) -> Result<Refund, SyncError> {
    let upstream = look(ports, &refund, budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply(ports, refund, upstream).await?)
}

/// What the acquirer says of the refund; `None` when it does not know it, or not yet.
pub(crate) async fn look(
    ports: &Ports,
    refund: &Refund,
    budget: Duration,
) -> Result<Option<UpstreamReturn>, AcquirerError> {
    acquirer(ports, refund)?.find_refund(&refund.end_to_end_id, refund.id, budget).await
}

/// Who received the Pix, and returns it.
pub(super) fn acquirer(ports: &Ports, refund: &Refund) -> Result<Arc<dyn Acquirer>, AcquirerError> {
    let named = ports.acquirers.named(&refund.acquirer);
    named.ok_or_else(|| AcquirerError::Unavailable(format!("{} is not configured", refund.acquirer)))
}

/// Applies what the acquirer says of the refund; its charge follows in the same commit. What contradicts a known outcome
/// changes nothing.
pub(crate) async fn apply(ports: &Ports, mut refund: Refund, upstream: UpstreamReturn) -> Result<Refund, Trouble> {
    if !agrees(&refund, &upstream) {
        return Ok(refund);
    }
    let result = UpstreamResult::Known(upstream);
    for _ in 0..ROUNDS {
        let charge = charge_of(ports, &refund).await?;
        let now = ports.clock.now();
        let step = match decide(refund.clone(), charge, &result, now) {
            Ok(RefundStep::Taken(step)) => step,
            Ok(RefundStep::AlreadyTaken(refund)) => return Ok(*refund),
            Err(RefundError::InvalidState(_)) => {
                complain(&refund, &result);
                return Ok(refund);
            }
            Err(error) => {
                unless_outdated(ports, &refund, error).await?;
                refund = reread(ports, &refund).await?;
                continue;
            }
        };
        match ports.store.commit(change_set(ports, &step, now).await?).await {
            Ok(_) => return Ok(stored(step.refund)),
            Err(CommitError::Stale) => refund = reread(ports, &refund).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::contended())
}

/// The refund of ours that a return of a received Pix is; `None` for one that somebody else asked for.
pub(crate) async fn of_return(
    ports: &Ports,
    charge: &Charge,
    (acquirer, end_to_end_id): (&AcquirerName, &EndToEndId),
    upstream: &UpstreamReturn,
) -> Result<Option<Refund>, Trouble> {
    let Some(id) = upstream.refund() else { return Ok(None) };
    let found = ports.queries.find_refund(charge.account, id).await?;
    Ok(found.filter(|refund| {
        refund.charge == charge.id && refund.acquirer == *acquirer && refund.end_to_end_id == *end_to_end_id
    }))
}
