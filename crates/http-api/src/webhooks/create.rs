//! `POST /v1/webhook-endpoints`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_use_cases::webhooks::create;

use super::request::NewWebhookEndpoint;
use crate::context::{Authorized, WebhooksWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::reply;
use crate::resources::webhook::WebhookEndpointWithSecret;

/// Registers an endpoint. Its secret is shown only once.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `limit_reached`; an error of the store.
#[utoipa::path(
    operation_id = "createWebhookEndpoint",
    tag = "webhooks",
    summary = "Register a webhook endpoint",
    description = "An account has at most 20 endpoints. The secret is shown only here and after a rotation. Deliveries are signed by Standard Webhooks (`v1`): the headers are `webhook-id`, `webhook-timestamp` and `webhook-signature`. The signed body is the event as `GET /v1/events/{id}` returns it. Answer with 2xx within 15 s, and recognize repeats by `webhook-id`: an event is delivered at least once. A failed delivery is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. An answer 410 disables the endpoint, and so do five days with failures and without a success. Scope: `webhooks:write`.",
    request_body(content = NewWebhookEndpoint,
        example = json!(examples::literal(r#"{"url":"https://shop.example/hooks/cais","events":["charge.paid","infraction.opened"],"description":"Orders"}"#))),
    responses(
        (status = 201, description = "The endpoint, with its secret.", body = WebhookEndpointWithSecret,
            example = json!(examples::endpoint_with_secret())),
        Errors<(OfBody, code::AccountSuspended, code::LimitReached)>,
    ),
)]
#[post("/webhook-endpoints")]
pub async fn create_endpoint(
    call: Authorized<WebhooksWrite>,
    input: Input<(NoQuery, NewWebhookEndpoint)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, request)) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let made = run_detached(async move { create::create(&state.ports, &caller.account, request.into()).await }).await?;
    let (endpoint, secret) = made?;
    Ok(reply::json(StatusCode::CREATED, &WebhookEndpointWithSecret::new(&endpoint, secret.reveal())))
}
