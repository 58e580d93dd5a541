//! `GET /v1/crypto/deposits`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::crypto::deposits::list;

use crate::context::{Authorized, CryptoRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::Input;
use crate::paging::PageQuery;
use crate::reply;
use crate::resources::crypto::{CryptoDeposit, CryptoDepositPage};
use crate::resources::values::Page;
use crate::statement::list_error;

/// Returns a page of deposits, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; an error of the store.
#[utoipa::path(
    operation_id = "listCryptoDeposits",
    tag = "crypto",
    summary = "List crypto deposits",
    description = "Newest first, with cursor pagination. Scope: `crypto:read`.",
    params(PageQuery<kind::CryptoDeposit>),
    responses(
        (status = 200, description = "A page of deposits.", body = CryptoDepositPage,
            example = json!(examples::crypto_deposits())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/crypto/deposits")]
pub async fn list_deposits(
    call: Authorized<CryptoRead>,
    input: Input<PageQuery<kind::CryptoDeposit>>,
) -> Result<HttpResponse, ApiError> {
    let Input(PageQuery(request)) = input;
    let page = list::list(&call.state.ports, call.caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no crypto deposit of this account"))?;
    let rows = page.rows.iter().map(CryptoDeposit::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|deposit| &deposit.id);
    Ok(reply::json(StatusCode::OK, &Page::new(rows, last)))
}
