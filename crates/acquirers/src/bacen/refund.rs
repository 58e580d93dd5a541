//! Returns a received Pix, and reads what became of it.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::money::Money;
use cais_ports::{AcquirerError, RefundOrder, UpstreamReturn};
use reqwest::StatusCode;

use super::api::{Api, success};
use super::defect::FindError;
use super::{returns, wire};
use crate::deadline::Deadline;
use crate::http::of_money_out;

/// `PUT /v2/pix/{e2eid}/devolucao/{id}`.
///
/// The standard refuses a name that is taken with the same 400 as everything else, so before a refusal counts the name is
/// looked up: what is there was asked for by an earlier request of ours, whose answer was lost.
pub(super) async fn send(api: &Api, order: &RefundOrder, deadline: Deadline) -> Result<UpstreamReturn, AcquirerError> {
    let name = order.id.suffix();
    let body = wire::return_request(order)?;
    let reply = api.put(&path(&order.end_to_end_id, &name), &body, deadline).await?;
    if reply.status.is_success() {
        let body = success(&reply).map_err(FindError::of_a_read)?;
        let told = returns::read(body, &name, Some(order.amount));
        return told.map_err(|defect| AcquirerError::OutcomeUnknown(defect.reason()));
    }
    let failure = of_money_out(&reply);
    let is_taken = reply.status == StatusCode::CONFLICT;
    let reason = match failure {
        AcquirerError::Refused(reason) => reason,
        AcquirerError::OutcomeUnknown(reason) if is_taken => reason,
        error @ (AcquirerError::Unavailable(_) | AcquirerError::OutcomeUnknown(_)) => return Err(error),
    };
    match read(api, &order.end_to_end_id, &name, Some(order.amount), deadline).await {
        Ok(Some(told)) => Ok(told),
        Ok(None) if is_taken => {
            Err(AcquirerError::OutcomeUnknown("the name of the return is taken, yet nothing has it".to_owned()))
        }
        Ok(None) => {
            tracing::info!(acquirer = %api.name(), refund = %order.id, status = reply.status.as_u16(), reason, "a return is refused");
            Err(AcquirerError::Refused(reason))
        }
        Err(error) => {
            let unread = error.of_a_read();
            Err(AcquirerError::OutcomeUnknown(format!("refused: {reason}; looking for it: {unread}")))
        }
    }
}

/// `GET /v2/pix/{e2eid}/devolucao/{id}`.
pub(super) async fn find(
    api: &Api,
    end_to_end_id: &EndToEndId,
    id: RefundId,
    deadline: Deadline,
) -> Result<Option<UpstreamReturn>, AcquirerError> {
    read(api, end_to_end_id, &id.suffix(), None, deadline).await.map_err(FindError::of_a_read)
}

async fn read(
    api: &Api,
    end_to_end_id: &EndToEndId,
    name: &str,
    amount: Option<Money>,
    deadline: Deadline,
) -> Result<Option<UpstreamReturn>, FindError> {
    let Some(reply) = api.get(&path(end_to_end_id, name), deadline).await? else { return Ok(None) };
    Ok(Some(returns::read(success(&reply)?, name, amount)?))
}

fn path(end_to_end_id: &EndToEndId, name: &str) -> String {
    format!("/v2/pix/{end_to_end_id}/devolucao/{name}")
}
