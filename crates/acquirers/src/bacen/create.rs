//! Makes a charge, and finds out what became of it when the answer is lost.

use std::time::Duration;

use cais_ports::{AcquirerError, ChargeOrder, UpstreamCharge};
use reqwest::StatusCode;

use super::api::Api;
use super::defect::{Defect, FindError};
use super::read::Expected;
use super::wire;
use crate::deadline::Deadline;

/// Kept back from the first request, for asking what became of it.
const RECOVERY_RESERVE: Duration = Duration::from_millis(1_500);
/// With less than this left nothing is sent once more: it could only be lost again.
const MIN_RETRY: Duration = Duration::from_millis(250);

/// What became of one `PUT`.
enum Put {
    /// The charge as it was ordered.
    Made(UpstreamCharge),
    /// 409: the name is taken, by an earlier request of ours unless the charge differs.
    Exists,
    /// It certainly did not make one.
    Not(AcquirerError),
    /// It made one that is not what was ordered.
    Wrong(String),
    /// It may have.
    Lost(String),
}

/// `PUT`, and if its outcome is unknown `GET`, and if the charge is certainly not there one more `PUT` of the same txid.
///
/// After an outcome was unknown only a charge or a mismatch is certain: what refuses the second request says nothing of the first.
pub(super) async fn create(
    api: &Api,
    order: &ChargeOrder,
    deadline: Deadline,
) -> Result<UpstreamCharge, AcquirerError> {
    let body = wire::charge_request(order, api.key().as_str())?;
    let first = put(api, order, &body, deadline.keeping_back(RECOVERY_RESERVE)).await;
    let reason = match first {
        Put::Made(charge) => return Ok(charge),
        Put::Exists => return existing(api, order, deadline).await,
        Put::Not(error) => return Err(error),
        Put::Wrong(reason) => return Err(not_as_ordered(api, order, reason)),
        Put::Lost(reason) => reason,
    };
    tracing::warn!(acquirer = %api.name(), txid = %order.txid, reason, "the outcome of a charge is unknown; asking for it");
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
    tracing::warn!(acquirer = %api.name(), txid = %order.txid, "the charge is not there; sending it once more");
    match put(api, order, &body, deadline).await {
        Put::Made(charge) => Ok(charge),
        Put::Exists => existing(api, order, deadline).await,
        Put::Wrong(reason) => Err(not_as_ordered(api, order, reason)),
        Put::Not(_) | Put::Lost(_) => Err(AcquirerError::OutcomeUnknown(reason)),
    }
}

async fn put(api: &Api, order: &ChargeOrder, body: &[u8], deadline: Deadline) -> Put {
    let reply = match api.put_charge(&order.txid, body, deadline).await {
        Ok(reply) => reply,
        Err(AcquirerError::OutcomeUnknown(reason)) => return Put::Lost(reason),
        Err(error @ (AcquirerError::Refused(_) | AcquirerError::Unavailable(_))) => {
            return Put::Not(error);
        }
    };
    if reply.status == StatusCode::CONFLICT {
        return Put::Exists;
    }
    match api.charge_of(&reply, &Expected::ordered(order)) {
        Ok(charge) => Put::Made(charge),
        Err(
            FindError::Upstream(AcquirerError::OutcomeUnknown(reason)) | FindError::Defect(Defect::Unreadable(reason)),
        ) => Put::Lost(reason),
        Err(FindError::Upstream(error)) => Put::Not(error),
        Err(FindError::Defect(Defect::Mismatch(reason))) => Put::Wrong(reason),
    }
}

/// The charge that has the name already, if it is the one ordered.
async fn existing(api: &Api, order: &ChargeOrder, deadline: Deadline) -> Result<UpstreamCharge, AcquirerError> {
    match api.find(Expected::ordered(order), deadline).await {
        Ok(Some(charge)) => Ok(charge),
        Ok(None) => Err(AcquirerError::OutcomeUnknown("the txid is taken, yet nothing has it".to_owned())),
        Err(FindError::Defect(Defect::Mismatch(reason))) => Err(not_as_ordered(api, order, reason)),
        Err(error) => {
            let reason = error.of_a_read().to_string();
            Err(AcquirerError::OutcomeUnknown(format!("the txid is taken; reading it: {reason}")))
        }
    }
}

/// A charge that is not what was ordered. Nobody has seen its code, so nobody can pay it: it is as good as refused.
fn not_as_ordered(api: &Api, order: &ChargeOrder, reason: String) -> AcquirerError {
    tracing::warn!(acquirer = %api.name(), txid = %order.txid, reason, "the charge is not what was ordered");
    AcquirerError::Refused(reason)
}
