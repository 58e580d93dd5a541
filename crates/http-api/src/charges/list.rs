//! `GET /v1/charges`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::charges::list;

use crate::context::{Authorized, ChargesRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::Input;
use crate::paging::PageQuery;
use crate::reply;
use crate::resources::charge::ChargePage;
use crate::resources::values::page_of_json;
use crate::statement::list_error;

/// The number of rows that are rendered before the task yields. Rendering a QR code that is not cached takes 0.1 ms.
const ROWS_PER_TURN: usize = 16;

/// Returns a page of charges, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; an error of the store.
#[utoipa::path(
    operation_id = "listCharges",
    tag = "charges",
    summary = "List charges",
    description = "Newest first, with cursor pagination. Scope: `charges:read`.",
    params(PageQuery<kind::Charge>),
    responses(
        (status = 200, description = "A page of charges.", body = ChargePage, example = json!(examples::charges())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/charges")]
pub async fn list_charges(
    call: Authorized<ChargesRead>,
    input: Input<PageQuery<kind::Charge>>,
) -> Result<HttpResponse, ApiError> {
    let Input(PageQuery(request)) = input;
    let page = list::list(&call.state.ports, call.caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no charge of this account"))?;
    let mut rows = Vec::with_capacity(page.rows.len());
    for turn in page.rows.chunks(ROWS_PER_TURN) {
        rows.extend(turn.iter().map(|charge| call.state.ports.representation.charge(charge)));
        tokio::task::yield_now().await;
    }
    let last = page.rows.last().filter(|_| page.has_more).map(|charge| &charge.id);
    Ok(reply::rendered(StatusCode::OK, page_of_json(&rows, last)))
}
