//! `POST /v1/events/{id}/resend`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::webhooks;

use crate::call::{Call, run_detached};
use crate::charges::cancel::no_fields;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::representation::values::to_json;
use crate::representation::webhook::{Delivery, DeliveryList};
use crate::routes::Route;

/// The route of `resend_event`.
pub const ROUTE: Route = Route::write(
    "/v1/events/{id}/resend",
    Scope::WebhooksWrite,
    |call, caller| Box::pin(resend_event(call, caller)),
    description,
);

/// Delivers an event again to every endpoint that received it or subscribes to its type now.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, a missing permission to write; an error of the store.
async fn resend_event(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    no_fields(&call.body, &issues);
    let id = issues.unless_any(id)?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let sent = run_detached(async move { webhooks::resend_event(&state.ports, &caller.account, id).await }).await??;
    let list = DeliveryList { data: sent.iter().map(Delivery::from).collect() };
    Ok(Reply { status: StatusCode::ACCEPTED, ..Reply::json(to_json(&list)) })
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState],
        ..operation::plain(
            "resendEvent",
            "events",
            "Deliver an event again",
            "Sends the event to every active endpoint that had a delivery of it or subscribes to its type now. At most 20 tests and resends of an endpoint wait at a time. If any of these endpoints would exceed that limit, the answer is 429 and no endpoint receives the event. Needs no body.",
            vec![operation::json(
                "202",
                "The deliveries, which are tried at once.",
                "DeliveryList",
                examples::resent(),
            )],
        )
    }
}
