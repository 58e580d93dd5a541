//! `GET /v1/crypto/withdrawals`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::crypto::withdrawals::list;

use crate::context::{Authorized, CryptoRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::Input;
use crate::paging::PageQuery;
use crate::reply;
use crate::resources::crypto::{CryptoWithdrawal, CryptoWithdrawalPage};
use crate::resources::values::Page;
use crate::statement::list_error;

/// Returns a page of withdrawals, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; an error of the store.
#[utoipa::path(
    operation_id = "listCryptoWithdrawals",
    tag = "crypto",
    summary = "List crypto withdrawals",
    description = "Newest first, with cursor pagination. Scope: `crypto:read`.",
    params(PageQuery<kind::CryptoWithdrawal>),
    responses(
        (status = 200, description = "A page of withdrawals.", body = CryptoWithdrawalPage,
            example = json!(examples::crypto_withdrawals())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/crypto/withdrawals")]
pub async fn list_withdrawals(
    call: Authorized<CryptoRead>,
    input: Input<PageQuery<kind::CryptoWithdrawal>>,
) -> Result<HttpResponse, ApiError> {
    let Input(PageQuery(request)) = input;
    let page = list::list(&call.state.ports, call.caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no crypto withdrawal of this account"))?;
    let rows = page.rows.iter().map(CryptoWithdrawal::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|withdrawal| &withdrawal.id);
    Ok(reply::json(StatusCode::OK, &Page::new(rows, last)))
}
