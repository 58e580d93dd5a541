//! Updates a refund from its acquirer's record.

use std::time::Duration;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::refund::{Refund, RefundStep};
use cais_ports::{AcquirerError, UpstreamReturn};

use super::changes::{change_set, charge_of, commit, unless_outdated};
use crate::ports::Ports;
use crate::store_error::StoreError;
pub(crate) use crate::upstream_order::SyncError;
use crate::upstream_order::{KeyedResource as _, StoredRecord as _, UpstreamOrder as _};
use crate::upstream_result::UpstreamResult;
use crate::upstream_text::plain;

/// Reads the refund at its acquirer, and applies the acquirer's record.
pub(crate) async fn refresh(ports: &Ports, refund: Refund, budget: Duration) -> Result<Refund, SyncError> {
    let upstream = fetch_upstream(ports, &refund, budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply(ports, refund, upstream).await?)
}

/// Returns the acquirer's record of the refund. Returns `None` if the acquirer does not have the refund, or does not
/// show it yet.
pub(crate) async fn fetch_upstream(
    ports: &Ports,
    refund: &Refund,
    budget: Duration,
) -> Result<Option<UpstreamReturn>, AcquirerError> {
    ports.acquirer(&refund.acquirer)?.find_refund(&refund.end_to_end_id, refund.id, budget).await
}

/// Applies the acquirer's record, and changes the charge in the same commit. A record with another amount, or one that
/// contradicts a known outcome, has no effect.
pub(crate) async fn apply(ports: &Ports, mut refund: Refund, upstream: UpstreamReturn) -> Result<Refund, StoreError> {
    if !refund.agrees(&upstream) {
        return Ok(refund);
    }
    let result = UpstreamResult::Known(upstream);
    for _ in 0..Refund::MAX_PASSES {
        if let Some((after, change)) = refund.clone().settle(ports, &result, ports.clock.now()).await? {
            if change.writes.is_empty() {
                return Ok(after);
            }
            if commit(ports, change).await? {
                return Ok(after);
            }
        }
        refund = refund.reread(ports).await?;
    }
    Err(StoreError::contended())
}

/// Ends a refund that its acquirer refused and does not have, and releases the whole amount. `refund` must have the
/// version that it had when it was sent. If a newer version is stored, that version is returned unchanged.
pub(super) async fn end(ports: &Ports, refund: Refund, reason: &str) -> Result<Refund, StoreError> {
    for _ in 0..Refund::MAX_PASSES {
        let charge = charge_of(ports, &refund).await?;
        let now = ports.clock.now();
        let step = match refund.clone().fail(charge, plain(reason), now) {
            Ok(RefundStep::Taken(step)) => step,
            Ok(RefundStep::AlreadyTaken(refund)) => return Ok(*refund),
            Err(error) => {
                unless_outdated(ports, &refund, error).await?;
                return refund.reread(ports).await;
            }
        };
        if commit(ports, change_set(ports, &step, now).await?).await? {
            return Ok(step.refund.stored());
        }
        // Another process has applied a newer record, or has changed the charge.
        let fresh = refund.reread(ports).await?;
        if fresh.version != refund.version {
            return Ok(fresh);
        }
    }
    Err(StoreError::contended())
}

/// Returns the refund to which a return of a received Pix belongs. Returns `None` if the return belongs to no refund of
/// this charge and this Pix.
pub(crate) async fn of_return(
    ports: &Ports,
    charge: &Charge,
    (acquirer, end_to_end_id): (&AcquirerName, &EndToEndId),
    upstream: &UpstreamReturn,
) -> Result<Option<Refund>, StoreError> {
    let Some(id) = upstream.refund() else { return Ok(None) };
    let found = ports.queries.find_refund(charge.account, id).await?;
    Ok(found.filter(|refund| {
        refund.charge == charge.id && refund.acquirer == *acquirer && refund.end_to_end_id == *end_to_end_id
    }))
}
