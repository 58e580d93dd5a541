//! Builds the changes of a refund's step that are committed together.

use cais_domain::charge::{Charge, ChargeError};
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundChange, RefundError, RefundStatus};
use cais_ports::{ChangeSet, CommitError, NewEvent, Reservation, ReservationKey, Write, alerts};
use jiff::Timestamp;

use crate::infractions::redistribute;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::StoredRecord as _;

/// Returns all changes of the step. If the step returns held money of a disputed Pix to the account, the same commit
/// blocks that money.
///
/// The refund's return id is reserved, so that the same return is never credited as the return of a payout.
pub(super) async fn change_set(ports: &Ports, step: &RefundChange, now: Timestamp) -> Result<ChangeSet, StoreError> {
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(step.refund.clone()));
    change.reserve.extend(return_id(ports, &step.refund).await?);
    change.transfers.clone_from(&step.transfers);
    let event = |kind: EventType, resource: String, data: Vec<u8>| NewEvent {
        id: EventId::new(ports.ids.next_uuid()),
        account: step.refund.account,
        kind,
        at: now,
        resource,
        data,
        postback: None,
    };
    if let Some(kind) = step.event {
        let data = ports.representation.refund(&step.refund);
        change.events.push(event(kind, step.refund.id.to_string(), data));
    }
    if let Some(charge) = &step.charge {
        change.writes.push(Write::update(charge.clone()));
        if let Some(kind) = step.charge_event {
            let charge_event = event(kind, charge.id.to_string(), ports.representation.charge(charge));
            change.events.push(NewEvent { postback: charge.terms.postback.clone(), ..charge_event });
        }
        let beyond = match step.refund.state.status() {
            RefundStatus::Abandoned | RefundStatus::Failed => step.refund.beyond().map_err(ChargeError::from)?,
            RefundStatus::Pending | RefundStatus::Processing | RefundStatus::Completed => Money::ZERO,
        };
        redistribute::hold(ports, charge, (&step.refund.end_to_end_id, beyond), &mut change).await?;
    }
    Ok(change)
}

/// Returns the reservation of the refund's return id, if the id is known and not reserved yet.
async fn return_id(ports: &Ports, refund: &Refund) -> Result<Option<Reservation>, StoreError> {
    let Some(return_id) = refund.state.return_id() else { return Ok(None) };
    let (key, owner) = (ReservationKey::ReturnId(return_id.clone()), refund.id.to_string());
    match ports.queries.find_owner(&key).await? {
        None => Ok(Some(Reservation { key, account: refund.account, owner })),
        Some(by) => {
            if by != owner {
                tracing::error!(
                    alert = alerts::REFUND_CONTRADICTED, refund = %refund.id, acquirer = %refund.acquirer, by, %return_id,
                    "return id of a refund belongs to the resource in `by`; manual review needed"
                );
            }
            Ok(None)
        }
    }
}

/// Commits the change. Returns `false` if another process has changed a record, or has reserved the return id first.
pub(super) async fn commit(ports: &Ports, change: ChangeSet) -> Result<bool, StoreError> {
    match ports.store.commit(change).await {
        Ok(_) => Ok(true),
        Err(CommitError::Taken { .. } | CommitError::Stale) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Handles an error of the domain rules. If the refund has changed since it was read, returns `Ok`: the charge was read
/// after the refund, so the two need not fit together, and the error is expected. Otherwise returns the error.
pub(super) async fn unless_outdated(ports: &Ports, refund: &Refund, error: RefundError) -> Result<(), StoreError> {
    let fresh = refund.reread(ports).await?;
    if fresh.version == refund.version { Err(StoreError::Internal(format!("{}: {error}", refund.id))) } else { Ok(()) }
}

/// Returns the charge of the refund.
pub(super) async fn charge_of(ports: &Ports, refund: &Refund) -> Result<Charge, StoreError> {
    let found = ports.queries.find_charge(refund.account, refund.charge).await?;
    found.ok_or_else(|| StoreError::Internal(format!("{}: its charge {} is missing", refund.id, refund.charge)))
}
