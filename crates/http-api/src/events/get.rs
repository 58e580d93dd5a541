//! `GET /v1/events/{id}`.

use cais_domain::api_key::Scope;
use cais_strict_json::Issues;
use cais_use_cases::events;
use cais_use_cases::keys::authenticate::Caller;

use super::no_such_event;
use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;

/// The route of `get_event`.
pub const ROUTE: Route =
    Route::read("/v1/events/{id}", Scope::EventsRead, |call, caller| Box::pin(get_event(call, caller)), description);

/// Returns an event as the bytes that were sent.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or any parameter, `not_found`; an error of the store.
async fn get_event(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let id = issues.unless_any(id)?;
    let event = events::find(&call.state.ports, caller.account.id, id).await?.ok_or_else(no_such_event)?;
    Ok(Reply::json(event.body))
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound],
        ..operation::plain(
            "getEvent",
            "events",
            "Fetch an event",
            "Byte for byte what was sent to endpoints.",
            vec![operation::json("200", "The event.", "Event", examples::event())],
        )
    }
}
