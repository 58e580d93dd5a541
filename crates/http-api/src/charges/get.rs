//! `GET /v1/charges/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::charges::fetch;

use crate::context::{Authorized, ChargesRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::Named;
use crate::reply;
use crate::resources::charge::Charge;

/// Returns the charge with the id or `external_id` in the path.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`, `external_id_in_progress`; an error of the
/// store.
#[utoipa::path(
    operation_id = "getCharge",
    tag = "charges",
    summary = "Fetch a charge",
    description = "A pending charge is refreshed from the acquirer first. Scope: `charges:read`.",
    params(Named<kind::Charge>),
    responses(
        (status = 200, description = "The charge.", body = Charge, example = json!(examples::paid())),
        Errors<(code::ValidationError, code::NotFound, code::ExternalIdInProgress)>,
    ),
)]
#[get("/charges/{id}")]
pub async fn get_charge(
    call: Authorized<ChargesRead>,
    input: Input<(NoQuery, Named<kind::Charge>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name))) = input;
    let charge = fetch::fetch(&call.state.ports, &call.state.syncs, call.caller.account.id, &name).await;
    let charge = charge.map_err(super::fetch_error)?;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.charge(&charge)))
}
