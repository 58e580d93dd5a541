//! `GET /v1/refunds/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::refunds::fetch;

use crate::context::{Authorized, ChargesRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;
use crate::resources::refund::Refund;

/// Returns a refund, after a refresh from the acquirer if its outcome is open.
///
/// # Errors
/// `VALIDATION_ERROR` if the id is malformed or the request has a query parameter; `not_found`;
/// `external_id_in_progress`; an error of the store.
#[utoipa::path(
    operation_id = "getRefund",
    tag = "charges",
    summary = "Fetch a refund",
    description = "A refund that is `processing` is refreshed from the acquirer before the response. Scope: `charges:read`.",
    params(Named<kind::Refund>),
    responses(
        (status = 200, description = "The refund.", body = Refund, example = json!(examples::refund())),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/refunds/{id}")]
pub async fn get_refund(
    call: Authorized<ChargesRead>,
    input: Input<(NoQuery, Named<kind::Refund>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let refund = fetch::fetch(&call.state.ports, &call.state.syncs, call.caller.account.id, &name).await;
    let refund = refund.map_err(super::fetch_error)?;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.refund(&refund)))
}
