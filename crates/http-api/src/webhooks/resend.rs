//! `POST /v1/webhook-endpoints/{id}/deliveries/{delivery_id}/resend`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_domain::ids::kind;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::deliveries;

use crate::call::{Call, to_the_end};
use crate::charges::cancel::no_fields;
use crate::error::ApiError;
use crate::named;
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::Delivery;
use cais_strict_json::Issues;

/// Delivers again, at once and with the whole schedule before it.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, what forbids the account to write; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let endpoint = super::named(call, &issues);
    let id = named::id::<kind::Delivery>(call.params.second(), "delivery_id", &issues);
    no_fields(&call.body, &issues);
    let (endpoint, id) = issues.unless_any(endpoint.zip(id))?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let work = async move { deliveries::resend(&state.ports, &caller.account, endpoint, id).await };
    let delivery = to_the_end(work).await??;
    Ok(Reply { status: StatusCode::ACCEPTED, ..Reply::json(to_json(&Delivery::from(&delivery))) })
}
