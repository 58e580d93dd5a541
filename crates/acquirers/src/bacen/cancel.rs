//! Withdraws a charge, or tells how it ended before.

use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, UpstreamCharge, UpstreamStatus};

use super::api::Api;
use super::read::Expected;
use crate::deadline::Deadline;
use crate::http::of_reply;

/// Kept back from the request, for asking how the charge stands.
const READ_RESERVE: std::time::Duration = std::time::Duration::from_millis(1_500);

/// `PATCH` to removed. Unless the answer shows it removed, the charge is read: one that has ended is returned as it ended,
/// one that can still be paid is the error that the `PATCH` met.
pub(super) async fn cancel(api: &Api, txid: &Txid, deadline: Deadline) -> Result<UpstreamCharge, AcquirerError> {
    let reply = api.remove_charge(txid, deadline.keeping_back(READ_RESERVE)).await;
    let error = match reply {
        Ok(reply) if reply.status.is_success() => match api.charge_of(&reply, &Expected::charge(txid)) {
            Ok(charge) if charge.status == UpstreamStatus::Removed => return Ok(charge),
            Ok(_) => AcquirerError::OutcomeUnknown("the charge was not removed, though that was confirmed".to_owned()),
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
        Ok(None) => Err(AcquirerError::Refused("there is no charge of that txid".to_owned())),
        Err(unread) => {
            let reason = unread.of_a_read();
            tracing::warn!(acquirer = %api.name(), %txid, %error, %reason, "whether a charge was withdrawn is unknown");
            Err(AcquirerError::OutcomeUnknown(error.to_string()))
        }
    }
}
