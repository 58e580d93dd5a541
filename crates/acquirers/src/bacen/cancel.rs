//! Cancels a charge, or finds its outcome.

use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, UpstreamCharge, UpstreamStatus};

use super::api::Api;
use super::read::Expected;
use crate::deadline::Deadline;
use crate::http::of_reply;

/// The time reserved for reading the charge afterwards.
const READ_RESERVE: std::time::Duration = std::time::Duration::from_millis(1_500);

/// Sends a `PATCH` that removes the charge. A `PATCH` that was certainly not executed (`Unavailable`) is an error. If
/// any other answer does not show the removal, the charge is read. A charge that has ended is returned. If the charge
/// is still payable, the error of the `PATCH` is returned.
pub(super) async fn cancel(api: &Api, txid: &Txid, deadline: Deadline) -> Result<UpstreamCharge, AcquirerError> {
    let reply = api.remove_charge(txid, deadline.keeping_back(READ_RESERVE)).await;
    let error = match reply {
        Ok(reply) if reply.status.is_success() => match api.charge_of(&reply, &Expected::charge(txid)) {
            Ok(charge) if charge.status == UpstreamStatus::Removed => return Ok(charge),
            Ok(_) => AcquirerError::OutcomeUnknown("the removal was confirmed, but the charge still exists".to_owned()),
            Err(error) => error.of_a_read(),
        },
        Ok(reply) => of_reply(&reply),
        Err(error) => error,
    };
    if matches!(error, AcquirerError::Unavailable(_)) {
        return Err(error);
    }
    match api.find(Expected::charge(txid), deadline).await {
        Ok(Some(charge)) if charge.status == UpstreamStatus::Active => Err(error),
        Ok(Some(charge)) => Ok(charge),
        Ok(None) => Err(AcquirerError::Refused("no charge has this txid".to_owned())),
        Err(unread) => {
            let reason = unread.of_a_read();
            tracing::warn!(acquirer = %api.name(), %txid, %error, %reason, "outcome of a cancellation unknown; the charge may be cancelled");
            Err(AcquirerError::OutcomeUnknown(error.to_string()))
        }
    }
}
