//! `GET /v1/infractions/{id}`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::infractions::list;
use cais_use_cases::keys::authenticate::Caller;

use super::no_such_infraction;
use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;

/// The route of `get_infraction`.
pub const ROUTE: Route = Route::read(
    "/v1/infractions/{id}",
    Scope::InfractionsRead,
    |call, caller| Box::pin(get_infraction(call, caller)),
    description,
);

/// Returns an infraction with its defense.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any parameter, `not_found`; an error of the store.
async fn get_infraction(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let id = issues.unless_any(id)?;
    let infraction = list::find(&call.state.ports, caller.account.id, id).await?.ok_or_else(no_such_infraction)?;
    Ok(Reply::json(call.state.ports.representation.infraction(&infraction)))
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound],
        ..operation::plain(
            "getInfraction",
            "infractions",
            "Fetch an infraction",
            "Returns the infraction with its defense.",
            vec![operation::json("200", "The infraction.", "InfractionDetail", examples::won_infraction())],
        )
    }
}
