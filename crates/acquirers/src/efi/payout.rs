//! Sends a Pix, reads what became of it, and lists what was sent.

use cais_domain::instruction_id::InstructionId;
use cais_ports::{AcquirerError, ListRequest, PayoutOrder, UpstreamPage, UpstreamPayout};

use super::read::{self, Expected};
use super::wire;
use crate::bacen::api::{Api, success};
use crate::bacen::defect::FindError;
use crate::bacen::list::{self, Rows};
use crate::deadline::Deadline;
use crate::http::of_order;

/// The kinds that refuse a payout for a business reason.
const REFUSALS: [&str; 7] = [
    "documento_bloqueado",
    "chave_invalida",
    "chave_nao_pertence_ao_documento",
    "chave_favorecido_nao_encontrada",
    "valor_invalido",
    "json_invalido",
    "pagamento_negado",
];
/// The kinds that say that a sent Pix does not exist. The general `NaoEncontrado` is also the answer of a path that is gone.
const SENT_ABSENT: [&str; 2] = ["PixEnviadoNaoEncontrado", "pix_nao_encontrado"];

/// `PUT /v3/gn/pix/{idEnvio}`, once.
///
/// Whatever is not what was ordered, or cannot be read, leaves the outcome open: the Pix may be on its way. So does a 409: it
/// says that the name was used before.
pub(super) async fn send(api: &Api, order: &PayoutOrder, deadline: Deadline) -> Result<UpstreamPayout, AcquirerError> {
    let body = wire::send_request(order, api.key().as_str())?;
    let reply = api.put(&format!("/v3/gn/pix/{}", order.instruction_id), &body, deadline).await?;
    if !reply.status.is_success() {
        let error = of_order(&reply, &REFUSALS);
        tracing::info!(
            acquirer = %api.name(), instruction_id = %order.instruction_id, status = reply.status.as_u16(), %error,
            "the acquirer did not take a payout"
        );
        return Err(error);
    }
    let body = success(&reply).map_err(FindError::of_a_read)?;
    read::payout(body, &Expected::ordered(order)).map_err(|defect| AcquirerError::OutcomeUnknown(defect.reason()))
}

/// `GET /v2/gn/pix/enviados/id-envio/{idEnvio}`.
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
    Ok(Some(read::payout(success(&reply)?, &Expected::payout(instruction_id))?))
}

/// `GET /v2/gn/pix/enviados`, also with what others sent from the account, as far as it has a name.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
    list::page(api, ("/v2/gn/pix/enviados", Rows::Pix), request, deadline, read::row).await
}
