//! `GET /v1/webhook-endpoints/{id}/deliveries`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::deliveries;

use crate::call::Call;
use crate::error::ApiError;
use crate::paging;
use crate::reply::Reply;
use crate::representation::values::{Page, to_json};
use crate::representation::webhook::Delivery;
use cais_strict_json::Issues;

/// A page of what was delivered to an endpoint, or is to be, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id, or at the parameter that breaks its rule; `not_found`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let endpoint = super::in_path(call, &issues);
    let request = paging::only_page(call.query(), &issues);
    let (endpoint, request) = issues.unless_any(endpoint.zip(request))?;
    let page = deliveries::list(&call.state.ports, caller.account.id, endpoint, request).await?;
    let rows = page.rows.iter().map(Delivery::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|delivery| &delivery.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}
