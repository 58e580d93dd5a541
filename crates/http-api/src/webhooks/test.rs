//! `POST /v1/webhook-endpoints/{id}/test`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::test;

use crate::call::{Call, run_detached};
use crate::charges::cancel::no_fields;
use crate::error::ApiError;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::Delivery;
use crate::routes::Route;

/// The route of `test_endpoint`.
pub const ROUTE: Route = Route::write(
    "/v1/webhook-endpoints/{id}/test",
    Scope::WebhooksWrite,
    |call, caller| Box::pin(test_endpoint(call, caller)),
    description,
);

/// Sends a test event to an endpoint.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, a missing permission to write; an error of the store.
async fn test_endpoint(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    no_fields(&call.body, &issues);
    let id = issues.unless_any(id)?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let delivery = run_detached(async move { test::test(&state.ports, &caller.account, id).await }).await??;
    Ok(Reply { status: StatusCode::ACCEPTED, ..Reply::json(to_json(&Delivery::from(&delivery))) })
}

fn description() -> operation::Description {
    operation::Description {
        errors: operation::ACTS,
        ..operation::plain(
            "testWebhookEndpoint",
            "webhooks",
            "Send a webhook endpoint a test",
            "Sends an event `webhook.test`. Its `sequence` is null, and no list of events shows it. At most 20 tests and resends of an endpoint wait at a time; the next request is answered 429. Needs no body.",
            vec![operation::json(
                "202",
                "The delivery, which is tried at once.",
                "Delivery",
                examples::pending_delivery(),
            )],
        )
    }
}
