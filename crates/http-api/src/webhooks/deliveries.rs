//! `GET /v1/webhook-endpoints/{id}/deliveries`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::deliveries;

use crate::call::Call;
use crate::error::ApiError;
use crate::openapi::{examples, operation};
use crate::paging;
use crate::reply::Reply;
use crate::representation::values::{Page, to_json};
use crate::representation::webhook::Delivery;
use crate::routes::Route;

/// The route of `list_deliveries`.
pub const ROUTE: Route = Route::read(
    "/v1/webhook-endpoints/{id}/deliveries",
    Scope::WebhooksRead,
    |call, caller| Box::pin(list_deliveries(call, caller)),
    description,
);

/// Returns a page of an endpoint's deliveries, sent or waiting, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or at the invalid parameter; `not_found`; an error of the store.
async fn list_deliveries(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let endpoint = super::in_path(call, &issues);
    let request = paging::only_page(call.query(), &issues);
    let (endpoint, request) = issues.unless_any(endpoint.zip(request))?;
    let page = deliveries::list(&call.state.ports, caller.account.id, endpoint, request).await?;
    let rows = page.rows.iter().map(Delivery::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|delivery| &delivery.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}

fn description() -> operation::Description {
    operation::Description {
        parameters: operation::paging(),
        errors: operation::READS,
        ..operation::plain(
            "listWebhookDeliveries",
            "webhooks",
            "List what was delivered to a webhook endpoint",
            "Newest first, with cursor pagination; every attempt is told.",
            vec![operation::json("200", "A page of deliveries.", "DeliveryPage", examples::deliveries())],
        )
    }
}
