//! `GET /v1/payouts`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::payouts::list;

use crate::call::Call;
use crate::error::ApiError;
use crate::paging;
use crate::reply::Reply;
use crate::representation::payout::Payout;
use crate::representation::values::{Page, to_json};
use crate::statement::list_error;
use cais_strict_json::Issues;

/// A page of payouts, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the parameter that breaks its rule; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let request = paging::only_page(call.query(), &issues);
    let request = issues.unless_any(request)?;
    let page = list::list(&call.state.ports, caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no payout of this account"))?;
    let rows = page.rows.iter().map(Payout::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|payout| &payout.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}
