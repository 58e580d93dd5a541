//! `GET /v1/webhook-endpoints/{id}`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::list;

use super::no_such_endpoint;
use crate::call::Call;
use crate::error::ApiError;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;

/// The route of `get_endpoint`.
pub const ROUTE: Route = Route::read(
    "/v1/webhook-endpoints/{id}",
    Scope::WebhooksRead,
    |call, caller| Box::pin(get_endpoint(call, caller)),
    description,
);

/// Returns an endpoint.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any parameter, `not_found`; an error of the store.
async fn get_endpoint(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let id = issues.unless_any(id)?;
    let found = list::find(&call.state.ports, caller.account.id, id).await?;
    let endpoint = found.ok_or_else(no_such_endpoint)?;
    Ok(Reply::json(call.state.ports.representation.endpoint(&endpoint)))
}

fn description() -> operation::Description {
    operation::Description {
        errors: operation::READS,
        ..operation::plain(
            "getWebhookEndpoint",
            "webhooks",
            "Fetch a webhook endpoint",
            "Without its secret.",
            vec![operation::json("200", "The endpoint.", "WebhookEndpoint", examples::endpoint())],
        )
    }
}
