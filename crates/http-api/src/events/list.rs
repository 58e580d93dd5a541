//! `GET /v1/events`.

use cais_domain::api_key::Scope;
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_ports::{EventFilter, EventPage};
use cais_strict_json::Issues;
use cais_use_cases::events;
use cais_use_cases::keys::authenticate::Caller;

use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use crate::filters;
use crate::openapi::{examples, operation};
use crate::paging::{self, LIMIT, STARTING_AFTER};
use crate::query::Query;
use crate::reply::Reply;
use crate::representation::values::page_of_json;
use crate::routes::Route;
use crate::statement::list_error;

/// The parameter that continues after a sequence number, oldest first.
const AFTER_SEQUENCE: &str = "after_sequence";

/// The route of `list_events`.
pub const ROUTE: Route =
    Route::read("/v1/events", Scope::EventsRead, |call, caller| Box::pin(list_events(call, caller)), description);

/// Returns a page of events as the bytes that were sent. Newest first; after a sequence number, oldest first.
///
/// # Errors
/// `VALIDATION_ERROR` at the invalid parameter; an error of the store.
async fn list_events(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let query = Query::read(call.query(), &["type", AFTER_SEQUENCE, LIMIT, STARTING_AFTER], &issues);
    let kind = filters::word(&query, "type", &EventType::ALL, EventType::as_str, &issues);
    let after_sequence = query.get(AFTER_SEQUENCE).and_then(|text| sequence(text, &issues));
    let request = paging::page_after(&query, &issues, |text| EventId::parse(text).map_err(|error| error.to_string()));
    let request = issues.unless_any(request)?;
    let page = EventPage { limit: request.limit, starting_after: request.starting_after };
    let filter = EventFilter { kind, after_sequence };
    let page = events::list(&call.state.ports, caller.account.id, filter, page).await;
    let page = page.map_err(|error| list_error(error, "names no event of this account"))?;
    let last = page.rows.last().filter(|_| page.has_more).map(|event| event.id);
    let rows: Vec<Vec<u8>> = page.rows.into_iter().map(|event| event.body).collect();
    Ok(Reply::json(page_of_json(&rows, last)))
}

fn description() -> operation::Description {
    let kind = operation::word("type", "Of one type.", EventType::ALL.map(EventType::as_str));
    operation::Description {
        parameters: [kind, operation::after_sequence()].into_iter().chain(operation::paging()).collect(),
        errors: &[ErrorCode::ValidationError],
        ..operation::plain(
            "listEvents",
            "events",
            "List events",
            "Newest first, with cursor pagination; with `after_sequence` the oldest first. A consumer that knows the last `sequence` it has seen learns here of whatever it missed: the numbers have no gap. Kept for 90 days.",
            vec![operation::json("200", "A page of events.", "EventPage", examples::events())],
        )
    }
}

/// Digits only, as in a `limit`; 0 precedes the first event.
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
