//! `PATCH /v1/webhook-endpoints/{id}`.

use std::sync::Arc;

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::change;

use super::terms;
use crate::call::{Call, to_the_end};
use crate::error::ApiError;
use crate::reply::Reply;
use cais_strict_json::Issues;
use cais_strict_json::read;

/// Changes an endpoint; what its body does not name stays as it is.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, what forbids the account to write; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let asked = terms::change(&read(&call.body, &issues), &*call.state.ports.webhooks, &issues);
    let (id, asked) = issues.unless_any(id.zip(asked))?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let changed = to_the_end(async move { change::change(&state.ports, &caller.account, id, asked).await }).await??;
    Ok(Reply::json(call.state.ports.representation.endpoint(&changed)))
}
