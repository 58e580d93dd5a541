//! `DELETE /v1/webhook-endpoints/{id}`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, delete};
use cais_domain::ids::kind;
use cais_use_cases::webhooks;

use crate::context::{Authorized, WebhooksWrite, run_detached};
use crate::describe::failures::{Errors, OfEndpointChange};
use crate::error::ApiError;
use crate::input::{Input, NoQuery};
use crate::named::ById;
use crate::reply;

/// Deletes an endpoint. Its waiting deliveries are not sent.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `account_suspended`; an error of the store.
#[utoipa::path(
    operation_id = "deleteWebhookEndpoint",
    tag = "webhooks",
    summary = "Delete a webhook endpoint",
    description = "Deliveries that wait for the endpoint are cancelled. Scope: `webhooks:write`.",
    params(ById<kind::Endpoint>),
    responses(
        (status = 204, description = "The endpoint is deleted."),
        Errors<(OfEndpointChange,)>,
    ),
)]
#[delete("/webhook-endpoints/{id}")]
pub async fn delete_endpoint(
    call: Authorized<WebhooksWrite>,
    input: Input<(NoQuery, ById<kind::Endpoint>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id))) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    run_detached(async move { webhooks::delete::delete(&state.ports, &caller.account, id).await }).await??;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
