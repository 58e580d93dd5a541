//! Decides the step of a refund that follows from its acquirer's record, and builds its changes.

use cais_domain::charge::{Charge, ChargeError};
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_domain::money::Money;
use cais_domain::refund::{Refund, RefundChange, RefundError, RefundStatus, RefundStep};
use cais_ports::{ChangeSet, NewEvent, UpstreamProgress, UpstreamReturn, Write, alerts};
use jiff::Timestamp;

use crate::infractions::redistribute;
use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::upstream_order::StoredRecord as _;
use crate::upstream_result::UpstreamResult;
use crate::upstream_text::plain;

/// The reason of a failure for which the acquirer names none.
const UNEXPLAINED: &str = "the acquirer did not return it";

/// Returns the step that follows. `charge` is the refund's.
pub(super) fn decide(
    refund: Refund,
    charge: Charge,
    result: &UpstreamResult<UpstreamReturn>,
    now: Timestamp,
) -> Result<RefundStep, RefundError> {
    match result {
        UpstreamResult::Known(upstream) => {
            let return_id = upstream.return_id.clone();
            match &upstream.progress {
                UpstreamProgress::Processing => refund.send(return_id, now),
                UpstreamProgress::Done { at } => refund.complete(charge, return_id, at.unwrap_or(now)),
                UpstreamProgress::Failed { reason } => {
                    refund.fail(charge, reason.as_deref().map_or_else(|| UNEXPLAINED.to_owned(), plain), now)
                }
            }
        }
        UpstreamResult::Unknown(_) | UpstreamResult::RefusedUnproven(_) => refund.send(None, now),
        // The acquirer has shown the refund meanwhile, and that record outweighs a refusal.
        UpstreamResult::Refused(_) if refund.state.status() != RefundStatus::Pending => {
            Ok(RefundStep::AlreadyTaken(Box::new(refund)))
        }
        UpstreamResult::Refused(reason) => refund.fail(charge, plain(reason), now),
        UpstreamResult::NotAccepted(_) => refund.abandon(charge, now),
    }
}

/// Raises an alert if the acquirer's record contradicts the stored refund. The stored refund stays unchanged.
pub(super) fn alert_contradiction(refund: &Refund, result: &UpstreamResult<UpstreamReturn>) {
    let status = refund.state.status();
    let contradicts = match result {
        UpstreamResult::Known(upstream) => match (&upstream.progress, status) {
            // The record is older than the known outcome, or the refund is at no acquirer.
            (UpstreamProgress::Processing, RefundStatus::Completed)
            | (UpstreamProgress::Failed { .. }, RefundStatus::Abandoned) => false,
            (
                UpstreamProgress::Processing | UpstreamProgress::Done { .. } | UpstreamProgress::Failed { .. },
                RefundStatus::Pending
                | RefundStatus::Abandoned
                | RefundStatus::Processing
                | RefundStatus::Completed
                | RefundStatus::Failed,
            ) => true,
        },
        UpstreamResult::Refused(_)
        | UpstreamResult::NotAccepted(_)
        | UpstreamResult::Unknown(_)
        | UpstreamResult::RefusedUnproven(_) => false,
    };
    if contradicts {
        tracing::error!(
            alert = alerts::REFUND_CONTRADICTED, refund = %refund.id, acquirer = %refund.acquirer, stored = status.as_str(), ?result,
            "outcome of a refund contradicted by its acquirer; manual review needed"
        );
    }
}

/// Returns all changes of the step. Money of a disputed Pix that the step releases is blocked in the same commit.
pub(super) async fn change_set(ports: &Ports, step: &RefundChange, now: Timestamp) -> Result<ChangeSet, StoreError> {
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(step.refund.clone()));
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

/// Checks an error of the domain rules. The error is expected if the refund changed between its read and the read of
/// its charge. Every other error is returned.
pub(super) async fn unless_outdated(ports: &Ports, refund: &Refund, error: RefundError) -> Result<(), StoreError> {
    let fresh = refund.reread(ports).await?;
    if fresh.version == refund.version { Err(StoreError::Internal(format!("{}: {error}", refund.id))) } else { Ok(()) }
}

/// Returns the charge of the refund.
pub(super) async fn charge_of(ports: &Ports, refund: &Refund) -> Result<Charge, StoreError> {
    let found = ports.queries.find_charge(refund.account, refund.charge).await?;
    found.ok_or_else(|| StoreError::Internal(format!("{}: its charge {} is missing", refund.id, refund.charge)))
}
