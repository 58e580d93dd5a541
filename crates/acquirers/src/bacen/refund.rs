//! Sends the return of a received Pix (*devolução*), and reads its outcome.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_ports::{AcquirerError, RefundOrder, UpstreamReturn};

use super::api::Api;
use super::{returns, wire};
use crate::deadline::Deadline;
use crate::http::{FindError, of_order, of_reply};

/// The problem kinds with which the institution refuses a return permanently; see [`of_order`].
const REFUSALS: [&str; 4] = ["PixDevolucaoInvalida", "RequisicaoInvalida", "json_invalido", "valor_invalido"];
/// The problem kinds with which institutions report that a return does not exist. The general `NaoEncontrado` is not included, because it
/// may also mean that the path does not exist.
const RETURN_ABSENT: [&str; 3] = ["PixDevolucaoNaoEncontrada", "PixNaoEncontrado", "pix_nao_encontrado"];

/// Sends `PUT /v2/pix/{e2eid}/devolucao/{id}` once.
///
/// By the standard, an id that exists already is refused with the same 400 as any other invalid request. So a refusal
/// does not prove that no return exists.
pub(super) async fn send(api: &Api, order: &RefundOrder, deadline: Deadline) -> Result<UpstreamReturn, AcquirerError> {
    let name = order.id.suffix();
    let body = wire::return_request(order)?;
    let reply = api.put(&path(&order.end_to_end_id, &name), &body, deadline).await?;
    if !reply.status.is_success() {
        let error = of_order(&reply, &REFUSALS);
        tracing::info!(
            acquirer = %api.name(), refund = %order.id, status = reply.status.as_u16(), %error,
            "refund not accepted by the acquirer"
        );
        return Err(error);
    }
    let body = reply.success(of_reply).map_err(FindError::of_a_read)?;
    returns::read(body, &name, (Some(order.amount), api.dates()))
        .map_err(|defect| AcquirerError::OutcomeUnknown(defect.reason()))
}

/// Requests `GET /v2/pix/{e2eid}/devolucao/{id}`. Returns `None` if the institution answers that the return does not
/// exist.
pub(super) async fn find(
    api: &Api,
    end_to_end_id: &EndToEndId,
    id: RefundId,
    deadline: Deadline,
) -> Result<Option<UpstreamReturn>, AcquirerError> {
    read(api, end_to_end_id, &id.suffix(), deadline).await.map_err(FindError::of_a_read)
}

async fn read(
    api: &Api,
    end_to_end_id: &EndToEndId,
    name: &str,
    deadline: Deadline,
) -> Result<Option<UpstreamReturn>, FindError> {
    let Some(reply) = api.get(&path(end_to_end_id, name), &RETURN_ABSENT, deadline).await? else { return Ok(None) };
    Ok(Some(returns::read(reply.success(of_reply)?, name, (None, api.dates()))?))
}

fn path(end_to_end_id: &EndToEndId, name: &str) -> String {
    format!("/v2/pix/{end_to_end_id}/devolucao/{name}")
}
