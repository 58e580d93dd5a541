//! Sends a Pix, reads its outcome, and lists sent Pix.

use cais_domain::instruction_id::InstructionId;
use cais_ports::{AcquirerError, ListRequest, PayoutOrder, UpstreamPage, UpstreamPayout, alerts};

use super::read;
use super::wire;
use crate::bacen::api::Api;
use crate::bacen::list::{self, Rows};
use crate::deadline::Deadline;
use crate::http::{FindError, Problem, Reply, of_order, of_reply};
use crate::sent::Expected;

/// The problem kinds after which Efí certainly did not send the Pix.
const REFUSALS: [&str; 7] = [
    "documento_bloqueado",
    "chave_invalida",
    "chave_nao_pertence_ao_documento",
    "chave_favorecido_nao_encontrada",
    "valor_invalido",
    "json_invalido",
    "pagamento_negado",
];
/// The problem kinds with which Efí reports that a sent Pix does not exist. The general `NaoEncontrado` is not included,
/// because it may also mean that the path does not exist.
const SENT_ABSENT: [&str; 2] = ["PixEnviadoNaoEncontrado", "pix_nao_encontrado"];

/// The reason that the merchant sees if Efí refuses a payout because the paying key has no webhook. Only the log line names this cause.
const NO_WEBHOOK: &str = "the institution accepts no payouts at present";

/// Returns `true` if Efí refuses every Pix because the paying key has no webhook. Efí documents this rule, but not the kind
/// of the refusal. So a problem with status 400, 404 or 422 counts if it has a kind, and its kind or text mentions a webhook.
/// The look-up after each refusal proves that the Pix was not sent.
fn lacks_webhook(reply: &Reply) -> bool {
    matches!(reply.status.as_u16(), 400 | 404 | 422)
        && Problem::read(reply).is_some_and(|problem| problem.is_typed() && problem.mentions(&["webhook"]))
}

/// Sends `PUT /v3/gn/pix/{idEnvio}` once.
///
/// If the answer is unreadable or differs from the order, the outcome is unknown, because the Pix may be in flight. A 409 means that the
/// identifier was used before, so the outcome is unknown too.
pub(super) async fn send(api: &Api, order: &PayoutOrder, deadline: Deadline) -> Result<UpstreamPayout, AcquirerError> {
    let body = wire::send_request(order, api.key().as_str())?;
    let reply = api.put(&format!("/v3/gn/pix/{}", order.instruction_id), &body, deadline).await?;
    if !reply.status.is_success() {
        if lacks_webhook(&reply) {
            tracing::warn!(
                alert = alerts::CALLBACK_REGISTRATION_FAILED, acquirer = %api.name(),
                instruction_id = %order.instruction_id,
                "payout refused because the paying key has no webhook at the acquirer; each payout fails until it has one"
            );
            return Err(AcquirerError::Refused(NO_WEBHOOK.to_owned()));
        }
        let error = of_order(&reply, &REFUSALS);
        tracing::info!(
            acquirer = %api.name(), instruction_id = %order.instruction_id, status = reply.status.as_u16(), %error,
            "payout not accepted by the acquirer"
        );
        return Err(error);
    }
    let body = reply.success(of_reply).map_err(FindError::of_a_read)?;
    read::payout(body, &Expected::ordered(order)).map_err(|defect| AcquirerError::OutcomeUnknown(defect.reason()))
}

/// Requests `GET /v2/gn/pix/enviados/id-envio/{idEnvio}`. Returns `None` if Efí answers that the Pix does not exist.
pub(super) async fn find(
    api: &Api,
    instruction_id: &InstructionId,
    deadline: Deadline,
) -> Result<Option<UpstreamPayout>, AcquirerError> {
    look_up(api, instruction_id, deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(
    api: &Api,
    instruction_id: &InstructionId,
    deadline: Deadline,
) -> Result<Option<UpstreamPayout>, FindError> {
    let path = format!("/v2/gn/pix/enviados/id-envio/{instruction_id}");
    let Some(reply) = api.get(&path, &SENT_ABSENT, deadline).await? else { return Ok(None) };
    Ok(Some(read::payout(reply.success(of_reply)?, &Expected::payout(instruction_id))?))
}

/// Requests `GET /v2/gn/pix/enviados`. The list also contains Pix that other clients of the account sent with an `idEnvio`.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
    list::page(api, ("/v2/gn/pix/enviados", Rows::Pix), request, deadline, read::row).await
}
