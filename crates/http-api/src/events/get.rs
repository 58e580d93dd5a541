//! `GET /v1/events/{id}`.

use cais_use_cases::events;
use cais_use_cases::keys::authenticate::Caller;

use super::no_such_event;
use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;
use cais_strict_json::Issues;

/// One event: the bytes that were sent.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id or any parameter, `not_found`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let id = issues.unless_any(id)?;
    let event = events::find(&call.state.ports, caller.account.id, id).await?.ok_or_else(no_such_event)?;
    Ok(Reply::json(event.body))
}
