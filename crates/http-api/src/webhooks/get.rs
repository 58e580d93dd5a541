//! `GET /v1/webhook-endpoints/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::webhooks::list;

use super::no_such_endpoint;
use crate::context::{Authorized, WebhooksRead};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfRead};
use crate::error::ApiError;
use crate::input::{Input, NoQuery};
use crate::named::ById;
use crate::reply;
use crate::resources::webhook::WebhookEndpoint;

/// Returns an endpoint.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`; an error of the store.
#[utoipa::path(
    operation_id = "getWebhookEndpoint",
    tag = "webhooks",
    summary = "Fetch a webhook endpoint",
    description = "Returns the endpoint without its secret. Scope: `webhooks:read`.",
    params(ById<kind::Endpoint>),
    responses(
        (status = 200, description = "The endpoint.", body = WebhookEndpoint, example = json!(examples::endpoint())),
        Errors<(OfRead,)>,
    ),
)]
#[get("/webhook-endpoints/{id}")]
pub async fn get_endpoint(
    call: Authorized<WebhooksRead>,
    input: Input<(NoQuery, ById<kind::Endpoint>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id))) = input;
    let found = list::find(&call.state.ports, call.caller.account.id, id).await?;
    let endpoint = found.ok_or_else(no_such_endpoint)?;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.endpoint(&endpoint)))
}
