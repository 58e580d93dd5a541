//! `GET /v1/charges`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::charges::list;
use cais_use_cases::keys::authenticate::Caller;

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::paging;
use crate::reply::Reply;
use crate::representation::values::page_of_json;
use crate::routes::Route;
use crate::statement::list_error;

/// Rows rendered before the task yields: an image that is not cached takes a tenth of a millisecond.
const ROWS_PER_TURN: usize = 16;

/// The route of `list_charges`.
pub const ROUTE: Route =
    Route::read("/v1/charges", Scope::ChargesRead, |call, caller| Box::pin(list_charges(call, caller)), description);

/// Returns a page of charges, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the invalid parameter; an error of the store.
async fn list_charges(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let request = paging::only_page(call.query(), &issues);
    let request = issues.unless_any(request)?;
    let page = list::list(&call.state.ports, caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no charge of this account"))?;
    let mut rows = Vec::with_capacity(page.rows.len());
    for turn in page.rows.chunks(ROWS_PER_TURN) {
        rows.extend(turn.iter().map(|charge| call.state.ports.representation.charge(charge)));
        tokio::task::yield_now().await;
    }
    let last = page.rows.last().filter(|_| page.has_more).map(|charge| &charge.id);
    Ok(Reply::json(page_of_json(&rows, last)))
}

fn description() -> operation::Description {
    operation::Description {
        parameters: operation::paging(),
        errors: &[ErrorCode::ValidationError],
        ..operation::plain(
            "listCharges",
            "charges",
            "List charges",
            "Newest first, with cursor pagination.",
            vec![operation::json("200", "A page of charges.", "ChargePage", examples::charges())],
        )
    }
}
