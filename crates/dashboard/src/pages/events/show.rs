//! Shows an event: the body that endpoints receive, and its deliveries.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::ids::EventId;
use cais_domain::merchant::webhook::MAX_ENDPOINTS;
use cais_ports::{PageRequest, StoredEvent};
use cais_use_cases::events;
use cais_use_cases::webhooks::{list as endpoints, resend_event};

use super::{Resource, resource};
use crate::failure::Failure;
use crate::form::Form;
use crate::format::When;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::webhooks::deliveries::{self, Row};
use crate::pages::webhooks::send_again_refused;
use crate::texts::webhooks::WebhookTexts;

#[derive(Template)]
#[template(path = "events/show.html")]
struct ShowPage<'a> {
    page: Layout,
    t: &'static WebhookTexts,
    error: Option<&'a str>,
    id: String,
    kind: &'static str,
    sequence: i64,
    at: When,
    resource: Option<Resource>,
    payload: String,
    /// Each delivery with the URL of its endpoint; `None` for a deleted endpoint.
    deliveries: Vec<(Row, Option<String>)>,
    is_fresh: bool,
}

/// Shows the event.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let event = find_event(&context, &id).await?;
    rendered(&context, &event, StatusCode::OK, None).await
}

/// Sends the event again to each active endpoint that has a delivery of it or subscribes to its type now.
pub(crate) async fn resend(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let account = context.account().await?;
    let event = find_event(context, &id).await?;
    match resend_event(context.ports(), &account, event.id).await {
        Ok(_) => Ok(redirect(&format!("/events/{}", event.id))),
        Err(error) => {
            let text = send_again_refused(error, WebhookTexts::of(context.language))?;
            rendered(context, &event, StatusCode::UNPROCESSABLE_ENTITY, Some(text)).await
        }
    }
}

async fn find_event(context: &PageContext, id: &str) -> Result<StoredEvent, Failure> {
    let (_, account) = context.merchant()?;
    let id = EventId::parse(id).map_err(|_| Failure::NotFound)?;
    events::find(context.ports(), account, id).await?.ok_or(Failure::NotFound)
}

async fn rendered(
    context: &PageContext,
    event: &StoredEvent,
    status: StatusCode,
    error: Option<&str>,
) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let ports = context.ports();
    let all = PageRequest { limit: u32::from(MAX_ENDPOINTS), starting_after: None };
    let endpoints = endpoints::list(ports, account, all).await?.rows;
    let listed = ports.queries.list_deliveries_of_event(account, event.id).await?;
    let with_url = |delivery| {
        let row: Row = deliveries::row(context, delivery);
        let endpoint = endpoints.iter().find(|endpoint| endpoint.id.to_string() == row.endpoint);
        (row, endpoint.map(|endpoint| endpoint.url.to_string()))
    };
    let deliveries: Vec<_> = listed.iter().map(with_url).collect();
    let shown = ShowPage {
        page: context.layout(),
        t: WebhookTexts::of(context.language),
        error,
        id: event.id.to_string(),
        kind: event.kind.as_str(),
        sequence: event.sequence,
        at: When::of(event.created_at, context.language),
        resource: resource(event),
        payload: String::from_utf8_lossy(&ports.representation.event(event)).into_owned(),
        is_fresh: deliveries.iter().any(|(row, _)| row.is_fresh),
        deliveries,
    };
    Ok(context.page(status, &shown))
}
