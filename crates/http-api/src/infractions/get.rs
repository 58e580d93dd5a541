//! `GET /v1/infractions/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::infractions::list;

use super::no_such_infraction;
use crate::context::{Authorized, InfractionsRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::ById;
use crate::reply;
use crate::resources::infraction::InfractionDetail;

/// Returns an infraction with its defense.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`; an error of the store.
#[utoipa::path(
    operation_id = "getInfraction",
    tag = "infractions",
    summary = "Fetch an infraction",
    description = "Returns the infraction with its defense. Scope: `infractions:read`.",
    params(ById<kind::Infraction>),
    responses(
        (status = 200, description = "The infraction.", body = InfractionDetail,
            example = json!(examples::won_infraction())),
        Errors<(code::ValidationError, code::NotFound)>,
    ),
)]
#[get("/infractions/{id}")]
pub async fn get_infraction(
    call: Authorized<InfractionsRead>,
    input: Input<(NoQuery, ById<kind::Infraction>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id))) = input;
    let infraction = list::find(&call.state.ports, call.caller.account.id, id).await?.ok_or_else(no_such_infraction)?;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.infraction(&infraction)))
}
