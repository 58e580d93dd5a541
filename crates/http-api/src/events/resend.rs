//! `POST /v1/events/{id}/resend`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::kind;
use cais_use_cases::webhooks;

use crate::context::{Authorized, WebhooksWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, code};
use crate::input::{Input, NoFields, NoQuery, OptionalJson};
use crate::named::ById;
use crate::reply;
use crate::resources::webhook::{Delivery, DeliveryList};

/// Delivers an event again to every active endpoint that had a delivery of it or subscribes to its type now.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, `rate_limit_exceeded`, `account_suspended`; an error of the store.
#[utoipa::path(
    operation_id = "resendEvent",
    tag = "events",
    summary = "Resend an event",
    description = "Sends the event to every active endpoint that had a delivery of it or subscribes to its type now. At most 20 tests and resends of an endpoint wait at a time. If any of these endpoints would exceed that limit, the answer is 429 and no endpoint receives the event. Needs no body. Scope: `webhooks:write`.",
    params(ById<kind::Event>),
    responses(
        (status = 202, description = "The deliveries, which are tried at once.", body = DeliveryList,
            example = json!(examples::resent())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::InvalidState)>,
    ),
)]
#[post("/events/{id}/resend")]
pub async fn resend_event(
    call: Authorized<WebhooksWrite>,
    input: Input<(NoQuery, ById<kind::Event>, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id), _)) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let sent = run_detached(async move { webhooks::resend_event(&state.ports, &caller.account, id).await }).await??;
    let list = DeliveryList { data: sent.iter().map(Delivery::from).collect() };
    Ok(reply::json(StatusCode::ACCEPTED, &list))
}
