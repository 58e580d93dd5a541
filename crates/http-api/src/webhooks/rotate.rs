//! `POST /v1/webhook-endpoints/{id}/rotate-secret`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::rotate;

use super::terms;
use crate::call::{Call, run_detached};
use crate::error::ApiError;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::WebhookEndpointWithSecret;
use crate::routes::Route;

/// The route of `rotate_secret`.
pub const ROUTE: Route = Route::write(
    "/v1/webhook-endpoints/{id}/rotate-secret",
    Scope::WebhooksWrite,
    |call, caller| Box::pin(rotate_secret(call, caller)),
    description,
);

/// Replaces the secret of an endpoint. The new secret is shown only once; for a grace period the previous one also
/// signs.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, a missing permission to write; an error of the store.
async fn rotate_secret(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let grace_s = terms::grace_s(&call.body, &issues);
    let (id, grace_s) = issues.unless_any(id.zip(grace_s))?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let rotated = run_detached(async move { rotate::rotate(&state.ports, &caller.account, id, grace_s).await }).await?;
    let (endpoint, secret) = rotated?;
    Ok(Reply::json(to_json(&WebhookEndpointWithSecret::new(&endpoint, secret.reveal()))))
}

fn description() -> operation::Description {
    operation::Description {
        request: Some(("SecretRotation", examples::literal(r#"{"grace_seconds":86400}"#))),
        errors: operation::WRITES,
        body_is_optional: true,
        ..operation::plain(
            "rotateWebhookSecret",
            "webhooks",
            "Give a webhook endpoint another secret",
            "The secret before signs as well until its time is over, so that receivers can change at leisure; never more than two sign. Needs no body.",
            vec![operation::json(
                "200",
                "The endpoint, with its new secret.",
                "WebhookEndpointWithSecret",
                examples::endpoint_with_secret(),
            )],
        )
    }
}
