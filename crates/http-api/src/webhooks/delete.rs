//! `DELETE /v1/webhook-endpoints/{id}`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::delete;

use crate::call::{Call, run_detached};
use crate::error::ApiError;
use crate::openapi::operation;
use crate::reply::Reply;
use crate::routes::{Route, Verb};

/// The route of `delete_endpoint`.
pub const ROUTE: Route = Route {
    verb: Verb::Delete,
    ..Route::read(
        "/v1/webhook-endpoints/{id}",
        Scope::WebhooksWrite,
        |call, caller| Box::pin(delete_endpoint(call, caller)),
        description,
    )
};

/// Deletes an endpoint. Its waiting deliveries are not sent.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, a missing permission to write; an error of the store.
async fn delete_endpoint(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let id = issues.unless_any(id)?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    run_detached(async move { delete::delete(&state.ports, &caller.account, id).await }).await??;
    Ok(Reply { status: StatusCode::NO_CONTENT, ..Reply::empty() })
}

fn description() -> operation::Description {
    operation::Description {
        errors: operation::WRITES,
        ..operation::plain(
            "deleteWebhookEndpoint",
            "webhooks",
            "Delete a webhook endpoint",
            "What waits for it is cancelled.",
            vec![operation::empty("204", "It is gone.")],
        )
    }
}
