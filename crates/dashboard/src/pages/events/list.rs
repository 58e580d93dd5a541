//! Lists the events of the account. The query of the URL has the filters of `GET /v1/events`.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::event::EventType;
use cais_domain::ids::EventId;
use cais_ports::{EventFilter, EventPage, StoredEvent};
use cais_use_cases::events;

use super::{Resource, resource};
use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::webhooks::WebhookTexts;

/// The number of events on a page.
const PAGE: u32 = 50;
const TYPE: &str = "type";
const AFTER_SEQUENCE: &str = "after_sequence";

#[derive(Template)]
#[template(path = "events/list.html")]
struct ListPage<'a> {
    page: Layout,
    t: &'static WebhookTexts,
    error: Option<&'a str>,
    kinds: Vec<Choice>,
    after_sequence: &'a str,
    events: Vec<Row>,
    next: Option<String>,
}

struct Choice {
    name: &'static str,
    is_chosen: bool,
}

struct Row {
    id: String,
    kind: &'static str,
    sequence: i64,
    at: When,
    resource: Option<Resource>,
}

/// Shows a page of the list.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let t = WebhookTexts::of(context.language);
    let (mut status, mut error, mut listed) = (StatusCode::OK, None, Vec::new());
    let mut next = None;
    match filter(&query, t) {
        Ok(filter) => {
            let cursor = query.get(STARTING_AFTER).map(EventId::parse).transpose().map_err(|_| Failure::NotFound)?;
            let request = EventPage { limit: PAGE, starting_after: cursor };
            let found = events::list(context.ports(), account, filter, request).await?;
            let last = found.rows.last().filter(|_| found.has_more).map(|event| event.id.to_string());
            next = last.map(|last| next_page(&query, &last));
            listed = found.rows;
        }
        Err(text) => (status, error) = (StatusCode::UNPROCESSABLE_ENTITY, Some(text)),
    }
    let chosen = query.get(TYPE);
    let kinds = EventType::ALL.into_iter().filter(|kind| *kind != EventType::WebhookTest).map(EventType::as_str);
    let kinds = kinds.map(|name| Choice { name, is_chosen: chosen == Some(name) }).collect();
    let events = listed.iter().map(|event| row(&context, event)).collect();
    let after_sequence = query.get(AFTER_SEQUENCE).unwrap_or_default();
    Ok(context.page(status, &ListPage { page: context.layout(), t, error, kinds, after_sequence, events, next }))
}

/// Returns the filter in the query of the URL, or the text about its first mistake.
fn filter(query: &Query, t: &'static WebhookTexts) -> Result<EventFilter, &'static str> {
    let kind = query.get(TYPE).map(|name| EventType::parse(name).ok_or(t.kind_wrong)).transpose()?;
    let number = |text: &str| text.parse().ok().filter(|number| *number >= 0).ok_or(t.after_sequence_wrong);
    let after_sequence = query.get(AFTER_SEQUENCE).map(number).transpose()?;
    Ok(EventFilter { kind, after_sequence })
}

fn next_page(query: &Query, last: &str) -> String {
    let [kind, after] = [TYPE, AFTER_SEQUENCE].map(|name| query.get(name).unwrap_or_default());
    path_with("/events", &[(TYPE, kind), (AFTER_SEQUENCE, after), (STARTING_AFTER, last)])
}

fn row(context: &PageContext, event: &StoredEvent) -> Row {
    Row {
        id: event.id.to_string(),
        kind: event.kind.as_str(),
        sequence: event.sequence,
        at: When::of(event.created_at, context.language),
        resource: resource(event),
    }
}
