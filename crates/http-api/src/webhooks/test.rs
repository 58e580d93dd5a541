//! `POST /v1/webhook-endpoints/{id}/test`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::kind;
use cais_use_cases::webhooks::test;

use crate::context::{Authorized, WebhooksWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody, OfEndpointAction};
use crate::error::ApiError;
use crate::input::{Input, NoFields, NoQuery, OptionalJson};
use crate::named::ById;
use crate::reply;
use crate::resources::webhook::Delivery;

/// Sends a test event to an endpoint.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, `rate_limit_exceeded`, `account_suspended`; an error of the store.
#[utoipa::path(
    operation_id = "testWebhookEndpoint",
    tag = "webhooks",
    summary = "Send a test event to a webhook endpoint",
    description = "Sends an event `webhook.test`. Its `sequence` is null, and no list of events shows it. At most 20 tests and resends of an endpoint wait at a time; the next request is answered 429. Needs no body. Scope: `webhooks:write`.",
    params(ById<kind::Endpoint>),
    responses(
        (status = 202, description = "The delivery, which is tried at once.", body = Delivery,
            example = json!(examples::pending_delivery())),
        Errors<(OfBody, OfEndpointAction)>,
    ),
)]
#[post("/webhook-endpoints/{id}/test")]
pub async fn test_endpoint(
    call: Authorized<WebhooksWrite>,
    input: Input<(NoQuery, ById<kind::Endpoint>, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id), _)) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let delivery = run_detached(async move { test::test(&state.ports, &caller.account, id).await }).await??;
    Ok(reply::json(StatusCode::ACCEPTED, &Delivery::from(&delivery)))
}
