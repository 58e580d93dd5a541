//! `GET /v1/payouts/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::payouts::fetch;

use crate::context::{Authorized, PayoutsRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;
use crate::resources::payout::Payout;

/// Returns a payout, after a refresh from the acquirer if its state may have changed.
///
/// # Errors
/// `VALIDATION_ERROR` if the id is malformed or the request has a query parameter; `not_found`;
/// `external_id_in_progress`; an error of the store.
#[utoipa::path(
    operation_id = "getPayout",
    tag = "payouts",
    summary = "Fetch a payout",
    description = "A payout that is `processing`, or was completed within the last 24 hours, is refreshed from the acquirer before the response. Scope: `payouts:read`.",
    params(Named<kind::Payout>),
    responses(
        (status = 200, description = "The payout.", body = Payout, example = json!(examples::completed())),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/payouts/{id}")]
pub async fn get_payout(
    call: Authorized<PayoutsRead>,
    input: Input<(NoQuery, Named<kind::Payout>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let payout = fetch::fetch(&call.state.ports, &call.state.syncs, call.caller.account.id, &name).await;
    let payout = payout.map_err(super::fetch_error)?;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.payout(&payout)))
}
