//! `GET /v1/payouts`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::payouts::list;

use crate::context::{Authorized, PayoutsRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::Input;
use crate::paging::PageQuery;
use crate::reply;
use crate::resources::payout::{Payout, PayoutPage};
use crate::resources::values::Page;
use crate::statement::list_error;

/// Returns a page of payouts, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; an error of the store.
#[utoipa::path(
    operation_id = "listPayouts",
    tag = "payouts",
    summary = "List payouts",
    description = "Newest first, with cursor pagination. Scope: `payouts:read`.",
    params(PageQuery<kind::Payout>),
    responses(
        (status = 200, description = "A page of payouts.", body = PayoutPage, example = json!(examples::payouts())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/payouts")]
pub async fn list_payouts(
    call: Authorized<PayoutsRead>,
    input: Input<PageQuery<kind::Payout>>,
) -> Result<HttpResponse, ApiError> {
    let Input(PageQuery(request)) = input;
    let page = list::list(&call.state.ports, call.caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no payout of this account"))?;
    let rows = page.rows.iter().map(Payout::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|payout| &payout.id);
    Ok(reply::json(StatusCode::OK, &Page::new(rows, last)))
}
