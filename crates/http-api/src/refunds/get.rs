//! `GET /v1/refunds/{id}`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::refunds::fetch;

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::named;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;

/// The route of `get_refund`.
pub const ROUTE: Route =
    Route::read("/v1/refunds/{id}", Scope::ChargesRead, |call, caller| Box::pin(get_refund(call, caller)), description);

/// Returns a refund.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any parameter, `not_found`, `external_id_in_progress`; an error of the
/// store.
async fn get_refund(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    let name = issues.unless_any(name)?;
    let refund = fetch::fetch(&call.state.ports, &call.state.syncs, caller.account.id, &name).await;
    let refund = refund.map_err(super::fetch_error)?;
    Ok(Reply::json(call.state.ports.representation.refund(&refund)))
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound, ErrorCode::ExternalIdInProgress],
        ..operation::plain(
            "getRefund",
            "charges",
            "Fetch a refund",
            "A refund whose outcome is open is refreshed from the acquirer first.",
            vec![operation::json("200", "The refund.", "Refund", examples::refund())],
        )
    }
}
