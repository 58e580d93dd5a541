//! `GET /v1/events`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_ports::{EventFilter, EventPage};
use cais_strict_json::Issues;
use cais_use_cases::events;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use crate::context::{Authorized, EventsRead};
use crate::describe::events::Events;
use crate::describe::failures::Errors;
use crate::describe::{examples, parameters};
use crate::error::{ApiError, code};
use crate::input::{Input, Part, Parts};
use crate::paging::{self, LIMIT, STARTING_AFTER};
use crate::resources::event::Event;
use crate::resources::values::Page;
use crate::statement::list_error;
use crate::{filters, reply};

/// The parameter for the events after a sequence number, oldest first.
const AFTER_SEQUENCE: &str = "after_sequence";

/// The filter and the page that a query requests.
pub struct EventQuery {
    filter: EventFilter,
    page: EventPage,
}

impl Part for EventQuery {
    fn read(parts: &Parts<'_>, issues: &Issues) -> Option<Self> {
        let query = parts.query(&["type", AFTER_SEQUENCE, LIMIT, STARTING_AFTER], issues);
        let kind = filters::one_of(&query, "type", &EventType::ALL, EventType::as_str, issues);
        let after_sequence = query.get(AFTER_SEQUENCE).and_then(|text| sequence(text, issues));
        let page = paging::page_after(&query, issues, |text| EventId::parse(text).map_err(|error| error.to_string()))?;
        let page = EventPage { limit: page.limit, starting_after: page.starting_after };
        Some(Self { filter: EventFilter { kind, after_sequence }, page })
    }
}

impl IntoParams for EventQuery {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let kind = parameters::one_of("type", "Only events of this type.", EventType::ALL.map(EventType::as_str));
        [kind, parameters::after_sequence()].into_iter().chain(parameters::paging()).collect()
    }
}

/// Returns a page of events, newest first; with `after_sequence`, oldest first. Each event has the same bytes as in its deliveries.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; an error of the store.
#[utoipa::path(
    operation_id = "listEvents",
    tag = "events",
    summary = "List events",
    description = "Newest first, with cursor pagination. With `after_sequence`, the events after that number, oldest first. The numbers have no gap, so a consumer can read all events that it missed. Events are kept for 90 days. Scope: `events:read`.",
    params(EventQuery),
    responses(
        (status = 200, description = "A page of events.", body = Events, example = json!(examples::events())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/events")]
pub async fn list_events(call: Authorized<EventsRead>, input: Input<EventQuery>) -> Result<HttpResponse, ApiError> {
    let Input(EventQuery { filter, page }) = input;
    let page = events::list(&call.state.ports, call.caller.account.id, filter, page).await;
    let page = page.map_err(|error| list_error(error, "names no event of this account"))?;
    let last = page.rows.last().filter(|_| page.has_more).map(|event| event.id);
    Ok(reply::json(StatusCode::OK, &Page::new(page.rows.iter().map(Event::from).collect(), last)))
}

/// Parses a sequence number, which has digits only. The number 0 precedes the first event. A problem is added to `issues`.
fn sequence(text: &str, issues: &Issues) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    if number.is_none() {
        issues.add(AFTER_SEQUENCE, "must be an integer from 0");
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_are_digits() {
        for (text, expected) in [
            ("0", Some(0)),
            ("12", Some(12)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.0", None),
        ] {
            let issues = Issues::default();
            assert_eq!(sequence(text, &issues), expected, "{text}");
            assert_eq!(issues.is_empty(), expected.is_some(), "{text}");
        }
    }
}
