//! `GET /v1/webhook-endpoints`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::list;

use crate::call::Call;
use crate::error::ApiError;
use crate::paging;
use crate::reply::Reply;
use crate::representation::values::{Page, to_json};
use crate::representation::webhook::WebhookEndpoint;
use crate::statement::list_error;
use cais_strict_json::Issues;

/// A page of endpoints, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the parameter that breaks its rule; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let request = paging::only_page(call.query(), &issues);
    let request = issues.unless_any(request)?;
    let page = list::list(&call.state.ports, caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no webhook endpoint of this account"))?;
    let rows = page.rows.iter().map(WebhookEndpoint::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|endpoint| &endpoint.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}
