//! `GET /v1/charges/{id}/refunds`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::refunds::list::{self, ListRefundsError};

use crate::call::Call;
use crate::charges;
use crate::error::{ApiError, ErrorCode};
use crate::named;
use crate::openapi::{examples, operation};
use crate::paging;
use crate::reply::Reply;
use crate::representation::refund::Refund;
use crate::representation::values::{Page, to_json};
use crate::routes::Route;
use crate::statement::list_error;

/// The route of `list_refunds`.
pub const ROUTE: Route = Route::read(
    "/v1/charges/{id}/refunds",
    Scope::ChargesRead,
    |call, caller| Box::pin(list_refunds(call, caller)),
    description,
);

/// Returns a page of a charge's refunds, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or at the invalid parameter; `not_found`; an error of the store.
async fn list_refunds(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let charge = named::in_path(call, &issues);
    let request = paging::only_page(call.query(), &issues);
    let (charge, request) = issues.unless_any(charge.zip(request))?;
    let page =
        list::list(&call.state.ports, &call.state.syncs, caller.account.id, &charge, request).await.map_err(error)?;
    let rows = page.rows.iter().map(Refund::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|refund| &refund.id);
    Ok(Reply::json(to_json(&Page::new(rows, last))))
}

fn description() -> operation::Description {
    operation::Description {
        parameters: operation::paging(),
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..operation::plain(
            "listRefunds",
            "charges",
            "List a charge's refunds",
            "Newest first, with cursor pagination. Those whose outcome is open are refreshed from the acquirer first.",
            vec![operation::json("200", "A page of refunds.", "RefundPage", examples::refunds())],
        )
    }
}

fn error(error: ListRefundsError) -> ApiError {
    match error {
        ListRefundsError::Charge(error) => charges::fetch_error(error),
        ListRefundsError::List(error) => list_error(error, "names no refund of this charge"),
    }
}
