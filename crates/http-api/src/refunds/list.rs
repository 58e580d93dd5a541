//! `GET /v1/charges/{id}/refunds`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::refunds::list::{self, ListRefundsError};

use crate::context::{Authorized, ChargesRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::Input;
use crate::named::Named;
use crate::paging::PageQuery;
use crate::resources::refund::{Refund, RefundPage};
use crate::resources::values::Page;
use crate::statement::list_error;
use crate::{charges, reply};

/// Returns a page of a charge's refunds, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or an invalid parameter, `not_found`, `external_id_in_progress`; an error of the store.
#[utoipa::path(
    operation_id = "listRefunds",
    tag = "charges",
    summary = "List a charge's refunds",
    description = "Newest first, with cursor pagination. Refunds with an open outcome are refreshed from the acquirer first. Scope: `charges:read`.",
    params(Named<kind::Charge>, PageQuery<kind::Refund>),
    responses(
        (status = 200, description = "A page of refunds.", body = RefundPage, example = json!(examples::refunds())),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/charges/{id}/refunds")]
pub async fn list_refunds(
    call: Authorized<ChargesRead>,
    input: Input<(Named<kind::Charge>, PageQuery<kind::Refund>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((Named(charge), PageQuery(request))) = input;
    let page = list::list(&call.state.ports, &call.state.syncs, call.caller.account.id, &charge, request)
        .await
        .map_err(error)?;
    let rows = page.rows.iter().map(Refund::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|refund| &refund.id);
    Ok(reply::json(StatusCode::OK, &Page::new(rows, last)))
}

fn error(error: ListRefundsError) -> ApiError {
    match error {
        ListRefundsError::Charge(error) => charges::fetch_error(error),
        ListRefundsError::List(error) => list_error(error, "names no refund of this charge"),
    }
}
