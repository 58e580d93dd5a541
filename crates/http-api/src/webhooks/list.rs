//! `GET /v1/webhook-endpoints`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::list;

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::paging;
use crate::reply::Reply;
use crate::representation::values::{Page, to_json};
use crate::representation::webhook::WebhookEndpoint;
use crate::routes::Route;
use crate::statement::list_error;

/// The route of `list_endpoints`.
pub const ROUTE: Route = Route::read(
    "/v1/webhook-endpoints",
    Scope::WebhooksRead,
    |call, caller| Box::pin(list_endpoints(call, caller)),
    description,
);

/// Returns a page of endpoints, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the invalid parameter; an error of the store.
async fn list_endpoints(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let request = paging::only_page(call.query(), &issues);
    let request = issues.unless_any(request)?;
    let page = list::list(&call.state.ports, caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no webhook endpoint of this account"))?;
    let rows = page.rows.iter().map(WebhookEndpoint::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|endpoint| &endpoint.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}

fn description() -> operation::Description {
    operation::Description {
        parameters: operation::paging(),
        errors: &[ErrorCode::ValidationError],
        ..operation::plain(
            "listWebhookEndpoints",
            "webhooks",
            "List webhook endpoints",
            "Newest first, with cursor pagination.",
            vec![operation::json("200", "A page of endpoints.", "WebhookEndpointPage", examples::endpoints())],
        )
    }
}
