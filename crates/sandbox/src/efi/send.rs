//! `PUT /v3/gn/pix/{idEnvio}`: sends a Pix to a key.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};

use super::{
    admit, json,
    refusal::{INVALID_JSON, Refusal},
    schema::SchemaError,
    send_body, views,
};
use crate::{
    faults,
    pix::{Shared, body, oauth::Scope},
    recipients,
    requests::Operation,
    sends::SendError,
};

/// Accepts a Pix to be sent; 201 with the status `EM_PROCESSAMENTO`. The callback and later reads show the outcome.
///
/// # Errors
/// - 400 for an invalid body, and `chave_invalida` while the account's key has no webhook.
/// - 404 if the recipient's key does not exist.
/// - 409 `id_envio_duplicado` for an `idEnvio` that was used before.
/// - 415 unless the content type is JSON.
/// - 422 `pagamento_negado` for an insufficient balance.
pub async fn put(
    request: HttpRequest,
    id: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, Refusal> {
    admit(&psp, &request, Scope::PixSend, Operation::SendCreate)?;
    if !body::is_json(&request) {
        let message = "the body must be application/json";
        return Err(Refusal::named(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_JSON, message));
    }
    let bytes = body::bytes(payload).await?;
    let body = serde_json::from_slice(&bytes)
        .map_err(|error| Refusal::Schema(vec![SchemaError::new("type", ".body", format!("is not JSON: {error}"))]))?;
    let wanted = send_body::read(&id, body, &psp.identity.pix_key)?;
    if psp.read().books().find_webhook(&psp.identity.pix_key).is_none() {
        let message = "the key in pagador.chave has no webhook: register one with PUT /v2/webhook/{chave}";
        return Err(Refusal::named(StatusCode::BAD_REQUEST, "chave_invalida", message));
    }
    let loses_reply = recipients::behavior_of(&wanted.key).loses_reply;
    let sent = psp.request_send(wanted).map_err(|error| match error {
        SendError::IdTaken => {
            psp.requests.count(Operation::SendDuplicate);
            Refusal::named(StatusCode::CONFLICT, "id_envio_duplicado", error.to_string())
        }
        SendError::NotCovered => {
            Refusal::named(StatusCode::UNPROCESSABLE_ENTITY, "pagamento_negado", error.to_string())
        }
        SendError::Store(error) => error.into(),
        SendError::Id(_) => Refusal::application_error(error.to_string()),
    })?;
    if loses_reply {
        faults::close_connection(&request);
    }
    json(StatusCode::CREATED, &views::accepted(&sent))
}
