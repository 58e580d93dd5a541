//! `GET /v1/charges/{id}`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::charges::fetch;
use cais_use_cases::keys::authenticate::Caller;

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::named;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;

/// The route of `get_charge`.
pub const ROUTE: Route =
    Route::read("/v1/charges/{id}", Scope::ChargesRead, |call, caller| Box::pin(get_charge(call, caller)), description);

/// Returns a charge.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any parameter, `not_found`, `external_id_in_progress`; an error of the
/// store.
async fn get_charge(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    let name = issues.unless_any(name)?;
    let charge = fetch::fetch(&call.state.ports, &call.state.syncs, caller.account.id, &name).await;
    let charge = charge.map_err(super::fetch_error)?;
    Ok(Reply::json(call.state.ports.representation.charge(&charge)))
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..operation::plain(
            "getCharge",
            "charges",
            "Fetch a charge",
            "A pending charge is refreshed from the acquirer first.",
            vec![operation::json("200", "The charge.", "Charge", examples::paid())],
        )
    }
}
