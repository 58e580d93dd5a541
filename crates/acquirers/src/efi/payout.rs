//! Sends a Pix, reads what became of it, and lists what was sent.

use cais_domain::id_envio::IdEnvio;
use cais_ports::{AcquirerError, ListRequest, PayoutOrder, UpstreamPage, UpstreamPayout};
use reqwest::StatusCode;

use super::read::{self, Expected};
use super::wire;
use crate::bacen::api::{Api, success};
use crate::bacen::defect::FindError;
use crate::bacen::list::{self, Rows};
use crate::deadline::Deadline;
use crate::http::of_money_out;

/// `PUT /v3/gn/pix/{idEnvio}`, once. A 409 says that the name was used before: what it names is looked up.
///
/// Whatever is not what was ordered, or cannot be read, leaves the outcome open: the Pix may be on its way.
pub(super) async fn send(api: &Api, order: &PayoutOrder, deadline: Deadline) -> Result<UpstreamPayout, AcquirerError> {
    let body = wire::send_request(order, api.key().as_str())?;
    let reply = api.put(&format!("/v3/gn/pix/{}", order.id_envio), &body, deadline).await?;
    if reply.status == StatusCode::CONFLICT {
        return existing(api, order, deadline).await;
    }
    if !reply.status.is_success() {
        let error = of_money_out(&reply);
        tracing::info!(
            acquirer = %api.name(), id_envio = %order.id_envio, status = reply.status.as_u16(), %error,
            "the acquirer did not take a payout"
        );
        return Err(error);
    }
    let body = success(&reply).map_err(FindError::of_a_read)?;
    read::payout(body, &Expected::ordered(order)).map_err(|defect| AcquirerError::OutcomeUnknown(defect.reason()))
}

/// What was sent under the name of the order before.
async fn existing(api: &Api, order: &PayoutOrder, deadline: Deadline) -> Result<UpstreamPayout, AcquirerError> {
    let reason = match look_up(api, &Expected::ordered(order), deadline).await {
        Ok(Some(payout)) => return Ok(payout),
        Ok(None) => "the idEnvio is taken, yet nothing has it".to_owned(),
        Err(error) => format!("the idEnvio is taken; reading it: {}", error.of_a_read()),
    };
    tracing::warn!(acquirer = %api.name(), id_envio = %order.id_envio, reason, "what was sent before is not known");
    Err(AcquirerError::OutcomeUnknown(reason))
}

/// `GET /v2/gn/pix/enviados/id-envio/{idEnvio}`.
pub(super) async fn find(
    api: &Api,
    id_envio: &IdEnvio,
    deadline: Deadline,
) -> Result<Option<UpstreamPayout>, AcquirerError> {
    look_up(api, &Expected::payout(id_envio), deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(api: &Api, expected: &Expected<'_>, deadline: Deadline) -> Result<Option<UpstreamPayout>, FindError> {
    let path = format!("/v2/gn/pix/enviados/id-envio/{}", expected.id_envio());
    let Some(reply) = api.get(&path, deadline).await? else { return Ok(None) };
    Ok(Some(read::payout(success(&reply)?, expected)?))
}

/// `GET /v2/gn/pix/enviados`, also with what others sent from the account, as far as it has a name.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
    list::page(api, ("/v2/gn/pix/enviados", Rows::Pix), request, deadline, read::row).await
}
