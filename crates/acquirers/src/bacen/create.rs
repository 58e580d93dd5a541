//! Creates a charge, and finds its outcome when the answer is lost.

use std::time::Duration;

use cais_ports::{AcquirerError, ChargeOrder, UpstreamCharge};
use reqwest::StatusCode;

use super::api::Api;
use super::read::Expected;
use super::wire;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, Problem};

/// The time that the first request leaves for the look-up and a second request.
const RECOVERY_RESERVE: Duration = Duration::from_millis(1_500);
/// The shortest remaining time for a second request. With less time, the answer would likely be lost again.
const MIN_RETRY: Duration = Duration::from_millis(250);

/// The problem kind of a refused charge. In the API Pix a taken txid has the same kind. Efí answers a taken txid with 409.
const INVALID_OPERATION: &str = "CobOperacaoInvalida";

/// The outcome of one `PUT`.
enum Put {
    /// The charge was created as ordered.
    Made(UpstreamCharge),
    /// The charge was certainly not created.
    NotCreated(AcquirerError),
    /// The txid may be taken. If a charge with this txid equals the order, an earlier request of ours created it.
    /// If no charge has the txid, the error is the outcome.
    MaybeTaken(AcquirerError),
    /// The answer shows a charge that differs from the order or lacks a required field.
    Wrong(String),
    /// The charge may have been created.
    Lost(String),
}

/// Sends a `PUT`. After an unknown outcome, reads the charge. If the charge is certainly absent, sends the same `PUT` again.
///
/// After an unknown outcome, only the charge itself proves an outcome: a charge that equals the order is returned, a charge that differs
/// is refused. A refusal of the second request proves nothing about the first request.
pub(super) async fn create(
    api: &Api,
    order: &ChargeOrder,
    deadline: Deadline,
) -> Result<UpstreamCharge, AcquirerError> {
    let body = wire::charge_request(order, api.key().as_str())?;
    let first = put(api, order, &body, deadline.keeping_back(RECOVERY_RESERVE)).await;
    let reason = match first {
        Put::Made(charge) => return Ok(charge),
        Put::NotCreated(error) => return Err(error),
        Put::MaybeTaken(if_absent) => return existing(api, order, deadline, if_absent).await,
        Put::Wrong(reason) => return Err(not_as_ordered(api, order, reason)),
        Put::Lost(reason) => reason,
    };
    tracing::warn!(
        acquirer = %api.name(), txid = %order.txid, reason,
        "outcome of the creation of a charge unknown; reading the charge"
    );
    match api.find(Expected::ordered(order), deadline).await {
        Ok(Some(charge)) => return Ok(charge),
        Ok(None) if deadline.left() >= MIN_RETRY => {}
        Ok(None) => return Err(AcquirerError::OutcomeUnknown(reason)),
        Err(FindError::Defect(Defect::Mismatch(reason))) => {
            return Err(not_as_ordered(api, order, reason));
        }
        Err(FindError::Upstream(_) | FindError::Defect(Defect::Unreadable(_))) => {
            return Err(AcquirerError::OutcomeUnknown(reason));
        }
    }
    tracing::warn!(acquirer = %api.name(), txid = %order.txid, "charge not found at the acquirer; it is sent again");
    match put(api, order, &body, deadline).await {
        Put::Made(charge) => Ok(charge),
        Put::Wrong(reason) => Err(not_as_ordered(api, order, reason)),
        Put::MaybeTaken(_) => existing(api, order, deadline, AcquirerError::OutcomeUnknown(reason)).await,
        Put::NotCreated(_) | Put::Lost(_) => Err(AcquirerError::OutcomeUnknown(reason)),
    }
}

async fn put(api: &Api, order: &ChargeOrder, body: &[u8], deadline: Deadline) -> Put {
    let reply = match api.put_charge(&order.txid, body, deadline).await {
        Ok(reply) => reply,
        Err(AcquirerError::OutcomeUnknown(reason)) => return Put::Lost(reason),
        Err(error @ (AcquirerError::Refused(_) | AcquirerError::Unavailable(_))) => {
            return Put::NotCreated(error);
        }
    };
    if reply.status == StatusCode::CONFLICT {
        return Put::MaybeTaken(AcquirerError::OutcomeUnknown("the txid is taken, but no charge has it".to_owned()));
    }
    let may_be_taken = reply.status == StatusCode::BAD_REQUEST
        && Problem::read(&reply).is_some_and(|problem| problem.is(INVALID_OPERATION));
    match api.charge_of(&reply, &Expected::ordered(order)) {
        Ok(charge) => Put::Made(charge),
        Err(
            FindError::Upstream(AcquirerError::OutcomeUnknown(reason)) | FindError::Defect(Defect::Unreadable(reason)),
        ) => Put::Lost(reason),
        Err(FindError::Upstream(error)) if may_be_taken => Put::MaybeTaken(error),
        Err(FindError::Upstream(error)) => Put::NotCreated(error),
        Err(FindError::Defect(Defect::Mismatch(reason))) => Put::Wrong(reason),
    }
}

/// Returns the charge that already has the txid, if it matches the order. `if_absent` is the error if no charge has the
/// txid.
async fn existing(
    api: &Api,
    order: &ChargeOrder,
    deadline: Deadline,
    if_absent: AcquirerError,
) -> Result<UpstreamCharge, AcquirerError> {
    match api.find(Expected::ordered(order), deadline).await {
        Ok(Some(charge)) => Ok(charge),
        Ok(None) => Err(if_absent),
        Err(FindError::Defect(Defect::Mismatch(reason))) => Err(not_as_ordered(api, order, reason)),
        Err(error) => {
            let reason = error.of_a_read().to_string();
            Err(AcquirerError::OutcomeUnknown(format!("the txid may be taken; reading its charge failed: {reason}")))
        }
    }
}

/// Refuses a charge that differs from the order. The charge cannot be paid, because its code was never shown to a payer.
fn not_as_ordered(api: &Api, order: &ChargeOrder, reason: String) -> AcquirerError {
    tracing::warn!(acquirer = %api.name(), txid = %order.txid, reason, "charge differs from its order; it is refused");
    AcquirerError::Refused(reason)
}
