//! `PATCH /v1/webhook-endpoints/{id}`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, patch};
use cais_domain::ids::kind;
use cais_use_cases::webhooks::change;

use super::request::WebhookEndpointChange;
use crate::context::{Authorized, WebhooksWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody, OfEndpointChange};
use crate::error::ApiError;
use crate::input::{Input, NoQuery};
use crate::named::ById;
use crate::reply;
use crate::resources::webhook::WebhookEndpoint;

/// Changes an endpoint; omitted fields stay unchanged.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `account_suspended`; an error of the store.
#[utoipa::path(
    operation_id = "changeWebhookEndpoint",
    tag = "webhooks",
    summary = "Change a webhook endpoint",
    description = "Omitted fields stay unchanged. While `active` is false, deliveries to the endpoint stay `pending`, with `next_attempt_at` null, and wait; events published meanwhile have a delivery too. Waiting deliveries are sent when `active` is true again. A delivery waits no longer than its event is kept: 90 days. `active` true also enables an endpoint that the service disabled; deliveries that were already cancelled stay cancelled. Scope: `webhooks:write`.",
    params(ById<kind::Endpoint>),
    request_body(content = WebhookEndpointChange,
        example = json!(examples::literal(r#"{"events":["*"],"description":null,"active":true}"#))),
    responses(
        (status = 200, description = "The changed endpoint.", body = WebhookEndpoint,
            example = json!(examples::endpoint())),
        Errors<(OfBody, OfEndpointChange)>,
    ),
)]
#[patch("/webhook-endpoints/{id}")]
pub async fn change_endpoint(
    call: Authorized<WebhooksWrite>,
    input: Input<(NoQuery, ById<kind::Endpoint>, WebhookEndpointChange)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id), request)) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let changed =
        run_detached(async move { change::change(&state.ports, &caller.account, id, request.into()).await }).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.endpoint(&changed)))
}
