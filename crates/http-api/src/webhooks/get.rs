//! `GET /v1/webhook-endpoints/{id}`.

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::list;

use super::no_such_endpoint;
use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;
use cais_strict_json::Issues;

/// One endpoint.
///
/// # Errors
/// `VALIDATION_ERROR` for a bad id or any parameter, `not_found`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let id = issues.unless_any(id)?;
    let found = list::find(&call.state.ports, caller.account.id, id).await?;
    let endpoint = found.ok_or_else(no_such_endpoint)?;
    Ok(Reply::json(call.state.ports.representation.endpoint(&endpoint)))
}
