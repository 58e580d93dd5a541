//! `POST /v1/events/{id}/resend`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks;

use crate::call::{Call, to_the_end};
use crate::charges::cancel::no_fields;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::{Delivery, DeliveryList};
use cais_strict_json::Issues;

/// Delivers an event again to every endpoint that had it, or wants its type now.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, what forbids the account to write; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    no_fields(&call.body, &issues);
    let id = issues.unless_any(id)?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let sent = to_the_end(async move { webhooks::resend_event(&state.ports, &caller.account, id).await }).await??;
    let list = DeliveryList { data: sent.iter().map(Delivery::from).collect() };
    Ok(Reply { status: StatusCode::ACCEPTED, ..Reply::json(to_json(&list)) })
}
