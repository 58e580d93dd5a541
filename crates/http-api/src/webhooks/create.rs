//! `POST /v1/webhook-endpoints`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_domain::api_key::Scope;
use cais_strict_json::{Issues, read};
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::create;

use super::terms;
use crate::call::{Call, run_detached};
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::query;
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::WebhookEndpointWithSecret;
use crate::routes::Route;

/// The route of `create_endpoint`.
pub const ROUTE: Route = Route::write(
    "/v1/webhook-endpoints",
    Scope::WebhooksWrite,
    |call, caller| Box::pin(create_endpoint(call, caller)),
    description,
);

/// Registers an endpoint. Its secret is shown only once.
///
/// # Errors
/// `VALIDATION_ERROR`, a missing permission to write, `limit_reached`; an error of the store.
async fn create_endpoint(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let asked = terms::new(&read(&call.body, &issues), &*call.state.ports.webhooks, &issues);
    let asked = issues.unless_any(asked)?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let made = run_detached(async move { create::create(&state.ports, &caller.account, asked).await }).await?;
    let (endpoint, secret) = made?;
    let body = to_json(&WebhookEndpointWithSecret::new(&endpoint, secret.reveal()));
    Ok(Reply { status: StatusCode::CREATED, ..Reply::json(body) })
}

fn description() -> operation::Description {
    operation::Description {
        request: Some((
            "NewWebhookEndpoint",
            examples::literal(
                r#"{"url":"https://shop.example/hooks/cais","events":["charge.paid","infraction.opened"],"description":"Orders"}"#,
            ),
        )),
        errors: &[ErrorCode::AccountSuspended, ErrorCode::LimitReached],
        ..operation::plain(
            "createWebhookEndpoint",
            "webhooks",
            "Register a webhook endpoint",
            "At most 20 for each account. The secret is shown here and after a rotation only. What is sent is signed as Standard Webhooks say (`v1`): the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` over the raw body, which is the event as `GET /v1/events/{id}` returns it. Answer with 2xx within 15 s and tell repeats by `webhook-id`: an event is delivered at least once, and again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. 410 disables the endpoint, as do five days of failures alone.",
            vec![operation::json(
                "201",
                "The endpoint, with its secret.",
                "WebhookEndpointWithSecret",
                examples::endpoint_with_secret(),
            )],
        )
    }
}
