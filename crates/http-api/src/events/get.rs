//! `GET /v1/events/{id}`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::events;

use super::no_such_event;
use crate::context::{Authorized, EventsRead};
use crate::describe::events::Event;
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::{Input, NoQuery};
use crate::named::ById;
use crate::reply;
use crate::resources::event::Event as Body;

/// Returns an event in the same bytes as its deliveries.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any query parameter, `not_found`; an error of the store.
#[utoipa::path(
    operation_id = "getEvent",
    tag = "events",
    summary = "Fetch an event",
    description = "Returns the same bytes as the deliveries to endpoints. Scope: `events:read`.",
    params(ById<kind::Event>),
    responses(
        (status = 200, description = "The event.", body = Event, example = json!(examples::event())),
        Errors<(code::ValidationError, code::NotFound)>,
    ),
)]
#[get("/events/{id}")]
pub async fn get_event(
    call: Authorized<EventsRead>,
    input: Input<(NoQuery, ById<kind::Event>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id))) = input;
    let event = events::find(&call.state.ports, call.caller.account.id, id).await?.ok_or_else(no_such_event)?;
    Ok(reply::json(StatusCode::OK, &Body::from(&event)))
}
