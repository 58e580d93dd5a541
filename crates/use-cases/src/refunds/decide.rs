//! Decides the step of a refund that follows from its acquirer's record.

use cais_domain::charge::Charge;
use cais_domain::refund::{Refund, RefundError, RefundStatus, RefundStep};
use cais_ports::{UpstreamProgress, UpstreamReturn, alerts};
use jiff::Timestamp;

use crate::upstream_order::{KeyedResource as _, NextStep};
use crate::upstream_result::UpstreamResult;
use crate::upstream_text::plain;

/// The reason of a failure if the acquirer reports none.
const NO_REASON: &str = "the acquirer did not return the money";

/// Returns the step that follows from the result. `charge` is the charge of the refund.
pub(super) fn decide(
    refund: Refund,
    charge: Charge,
    result: &UpstreamResult<UpstreamReturn>,
    now: Timestamp,
) -> Result<RefundStep, RefundError> {
    match refund.creation_state().step(result) {
        NextStep::Apply(upstream) => {
            let return_id = upstream.return_id.clone();
            match &upstream.progress {
                UpstreamProgress::Processing => refund.send(return_id, now),
                UpstreamProgress::Done { at } => refund.complete(charge, return_id, at.unwrap_or(now)),
                UpstreamProgress::Failed { reason } => {
                    refund.fail(charge, reason.as_deref().map_or_else(|| NO_REASON.to_owned(), plain), now)
                }
            }
        }
        NextStep::Fail(reason) => refund.fail(charge, plain(reason), now),
        NextStep::Abandon => refund.abandon(charge, now),
        NextStep::StayOpen => refund.send(None, now),
        NextStep::None => Ok(RefundStep::AlreadyTaken(Box::new(refund))),
    }
}

/// Raises an alert if the acquirer's record contradicts the stored refund. The stored refund stays unchanged.
pub(super) fn alert_contradiction(refund: &Refund, result: &UpstreamResult<UpstreamReturn>) {
    let status = refund.state.status();
    let contradicts = match result {
        UpstreamResult::Known(upstream) => match (&upstream.progress, status) {
            // The record is older than the known outcome, or the refund was abandoned and no acquirer has it.
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
