//! `GET /v1/infractions/{id}`.

use cais_use_cases::infractions::list;
use cais_use_cases::keys::authenticate::Caller;

use super::no_such_infraction;
use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;
use cais_strict_json::Issues;

/// One infraction with its defence.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id or any parameter, `not_found`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let id = issues.unless_any(id)?;
    let infraction = list::find(&call.state.ports, caller.account.id, id).await?.ok_or_else(no_such_infraction)?;
    Ok(Reply::json(call.state.ports.representation.infraction(&infraction)))
}
