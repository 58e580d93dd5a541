//! `GET /v1/charges/{id}`.

use cais_use_cases::charges::fetch;
use cais_use_cases::keys::authenticate::Caller;

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;
use cais_strict_json::Issues;

/// One charge.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id or any parameter, `not_found`, `external_id_in_progress`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = super::named(call, &issues);
    let name = issues.unless_any(name)?;
    let charge = fetch::fetch(&call.state.ports, &call.state.syncs, caller.account.id, &name).await?;
    Ok(Reply::json(call.state.ports.representation.charge(&charge)))
}
