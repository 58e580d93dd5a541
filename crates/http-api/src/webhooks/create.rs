//! `POST /v1/webhook-endpoints`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks::create;

use super::terms;
use crate::call::{Call, to_the_end};
use crate::error::ApiError;
use crate::query;
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::WebhookEndpointWithSecret;
use cais_strict_json::Issues;
use cais_strict_json::read;

/// Registers an endpoint; its secret is shown this once.
///
/// # Errors
/// `VALIDATION_ERROR`, what forbids the account to write, `limit_reached`; what the store says.
pub async fn answer(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let asked = terms::new(&read(&call.body, &issues), &*call.state.ports.webhooks, &issues);
    let asked = issues.unless_any(asked)?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let made = to_the_end(async move { create::create(&state.ports, &caller.account, asked).await }).await?;
    let (endpoint, secret) = made?;
    let body = to_json(&WebhookEndpointWithSecret::new(&endpoint, secret.reveal()));
    Ok(Reply { status: StatusCode::CREATED, ..Reply::json(body) })
}
