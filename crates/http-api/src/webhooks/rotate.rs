//! `POST /v1/webhook-endpoints/{id}/rotate-secret`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::kind;
use cais_use_cases::webhooks::rotate;

use super::request::SecretRotation;
use crate::context::{Authorized, WebhooksWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody, OfEndpointChange};
use crate::error::ApiError;
use crate::input::{Input, NoQuery, OptionalJson};
use crate::named::ById;
use crate::reply;
use crate::resources::webhook::WebhookEndpointWithSecret;

/// Replaces the secret of an endpoint. The new secret is shown only once. For a grace period the previous secret also
/// signs.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `account_suspended`; an error of the store.
#[utoipa::path(
    operation_id = "rotateWebhookSecret",
    tag = "webhooks",
    summary = "Rotate the secret of a webhook endpoint",
    description = "The previous secret also signs for `grace_seconds`, so that receivers can change without a gap. At most two secrets sign at a time. The body is optional. Scope: `webhooks:write`.",
    params(ById<kind::Endpoint>),
    request_body(content = Option<SecretRotation>, example = json!(examples::literal(r#"{"grace_seconds":86400}"#))),
    responses(
        (status = 200, description = "The endpoint, with its new secret.", body = WebhookEndpointWithSecret,
            example = json!(examples::endpoint_with_secret())),
        Errors<(OfBody, OfEndpointChange)>,
    ),
)]
#[post("/webhook-endpoints/{id}/rotate-secret")]
pub async fn rotate_secret(
    call: Authorized<WebhooksWrite>,
    input: Input<(NoQuery, ById<kind::Endpoint>, OptionalJson<SecretRotation>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id), OptionalJson(rotation))) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let grace_s = rotation.grace_s();
    let rotated = run_detached(async move { rotate::rotate(&state.ports, &caller.account, id, grace_s).await }).await?;
    let (endpoint, secret) = rotated?;
    Ok(reply::json(StatusCode::OK, &WebhookEndpointWithSecret::new(&endpoint, secret.reveal())))
}
