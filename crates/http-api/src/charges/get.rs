//! `GET /v1/charges/{id}`.

use cais_use_cases::charges::fetch;
use cais_use_cases::keys::authenticate::Caller;

use crate::call::Call;
use crate::error::ApiError;
use crate::named;
use crate::reply::Reply;
use cais_strict_json::Issues;

/// One charge.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id or any parameter, `not_found`, `external_id_in_progress`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    let name = issues.unless_any(name)?;
    let charge = fetch::fetch(&call.state.ports, &call.state.syncs, caller.account.id, &name).await;
    let charge = charge.map_err(super::fetch_error)?;
    Ok(Reply::json(call.state.ports.representation.charge(&charge)))
}
