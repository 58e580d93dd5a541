//! `PATCH /v1/webhook-endpoints/{id}`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_strict_json::{Issues, read};
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::change;

use super::terms;
use crate::call::{Call, run_detached};
use crate::error::ApiError;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::{Route, Verb};

/// The route of `change_endpoint`.
pub const ROUTE: Route = Route {
    verb: Verb::Patch,
    ..Route::write(
        "/v1/webhook-endpoints/{id}",
        Scope::WebhooksWrite,
        |call, caller| Box::pin(change_endpoint(call, caller)),
        description,
    )
};

/// Changes an endpoint; omitted fields stay unchanged.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, a missing permission to write; an error of the store.
async fn change_endpoint(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let asked = terms::change(&read(&call.body, &issues), &*call.state.ports.webhooks, &issues);
    let (id, asked) = issues.unless_any(id.zip(asked))?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let changed = run_detached(async move { change::change(&state.ports, &caller.account, id, asked).await }).await??;
    Ok(Reply::json(call.state.ports.representation.endpoint(&changed)))
}

fn description() -> operation::Description {
    operation::Description {
        request: Some((
            "WebhookEndpointChange",
            examples::literal(r#"{"events":["*"],"description":null,"active":true}"#),
        )),
        errors: operation::WRITES,
        ..operation::plain(
            "changeWebhookEndpoint",
            "webhooks",
            "Change a webhook endpoint",
            "Fields that are not named stay unchanged. While `active` is false, deliveries to the endpoint stay `pending`, with `next_attempt_at` null, and wait; events published meanwhile get a delivery too. Waiting deliveries are sent when `active` is true again. A delivery waits no longer than its event is kept: 90 days. `active` true also enables an endpoint that the service disabled; deliveries that were cancelled then stay cancelled.",
            vec![operation::json("200", "The endpoint after it.", "WebhookEndpoint", examples::endpoint())],
        )
    }
}
