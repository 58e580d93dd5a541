//! `GET /v1/transactions/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_use_cases::timeline;

use super::{TransactionName, shown};
use crate::context::{Authorized, TransactionsRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, ErrorCode, code};
use crate::input::{Input, NoQuery};
use crate::reply;
use crate::resources::transaction::TransactionRow;

/// Returns an entry of the timeline.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`; an error of the store.
#[utoipa::path(
    operation_id = "getTransaction",
    tag = "transactions",
    summary = "Fetch an entry of the timeline",
    description = "Returns the stored entry, without reading from the acquirer. Scope: `transactions:read`.",
    params(TransactionName),
    responses(
        (status = 200, description = "The entry.", body = TransactionRow, example = json!(examples::transaction())),
        Errors<(code::ValidationError, code::NotFound)>,
    ),
)]
#[get("/transactions/{id}")]
pub async fn get_transaction(
    call: Authorized<TransactionsRead>,
    input: Input<(NoQuery, TransactionName)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, TransactionName(direction, key))) = input;
    let found = timeline::find(&call.state.ports, call.caller.account.id, direction, key).await?;
    let found = found.ok_or(ApiError::new(ErrorCode::NotFound).with_message("The transaction does not exist."))?;
    Ok(reply::json(StatusCode::OK, &shown(&found)?))
}
