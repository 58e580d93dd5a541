//! Shows an endpoint: its health, the forms that change it, and its deliveries.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::ids::DeliveryId;
use cais_domain::merchant::webhook::{DEFAULT_GRACE_S, Endpoint, MAX_GRACE_S};
use cais_ports::PageRequest;
use cais_use_cases::webhooks::deliveries::{self as use_case, ListDeliveriesError};

use super::deliveries::{self, Row};
use super::fields::Fields;
use super::find_endpoint;
use super::health::{self, Health};
use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::webhooks::WebhookTexts;

/// The number of deliveries on a page. Each delivery is shown with its attempts and its payload.
const PAGE: u32 = 20;
/// The seconds of an hour.
const HOUR_S: u32 = 3_600;

#[derive(Template)]
#[template(path = "webhooks/show.html")]
struct ShowPage<'a> {
    page: Layout,
    t: &'static WebhookTexts,
    error: Option<&'a str>,
    id: String,
    url: String,
    created: When,
    previous_until: Option<When>,
    health: Health,
    fields: Fields,
    graces: [Grace; 4],
    deliveries: Vec<(Row, Option<String>)>,
    is_first_page: bool,
    is_fresh: bool,
    older: Option<String>,
}

/// A choice for a rotation: the period in which the previous secret still signs beside the new one.
struct Grace {
    seconds: u32,
    name: &'static str,
    is_default: bool,
}

/// Shows the endpoint with a page of its deliveries.
pub(crate) async fn show(context: PageContext, id: web::Path<String>, query: Query) -> Result<HttpResponse, Failure> {
    let endpoint = find_endpoint(&context, &id).await?;
    let cursor = query.get(STARTING_AFTER).map(DeliveryId::parse).transpose().map_err(|_| Failure::NotFound)?;
    let fields = Fields::of(&endpoint);
    rendered(&context, &endpoint, fields, (StatusCode::OK, None), cursor).await
}

/// Shows the endpoint after a refused action. `sent` has the fields of a refused form; with `None`, the stored fields
/// are shown.
pub(super) async fn refused(
    context: &PageContext,
    endpoint: &Endpoint,
    sent: Option<Fields>,
    error: &str,
) -> Result<HttpResponse, Failure> {
    let fields = sent.unwrap_or_else(|| Fields::of(endpoint));
    rendered(context, endpoint, fields, (StatusCode::UNPROCESSABLE_ENTITY, Some(error)), None).await
}

async fn rendered(
    context: &PageContext,
    endpoint: &Endpoint,
    fields: Fields,
    (status, error): (StatusCode, Option<&str>),
    cursor: Option<DeliveryId>,
) -> Result<HttpResponse, Failure> {
    let request = PageRequest { limit: PAGE, starting_after: cursor };
    let listed = use_case::list(context.ports(), endpoint.account, endpoint.id, request).await;
    let listed = listed.map_err(|error| match error {
        ListDeliveriesError::NotFound | ListDeliveriesError::UnknownCursor => Failure::NotFound,
        ListDeliveriesError::Store(error) => error.into(),
    })?;
    let mut rows = Vec::new();
    for delivery in &listed.rows {
        let payload = deliveries::payload(context, endpoint.account, delivery).await?;
        rows.push((deliveries::row(context, delivery), payload));
    }
    let (id, t) = (endpoint.id.to_string(), WebhookTexts::of(context.language));
    let last = listed.rows.last().filter(|_| listed.has_more).map(|delivery| delivery.id.to_string());
    let older = last.map(|last| path_with(&format!("/webhooks/{id}"), &[(STARTING_AFTER, &last)]));
    let now = context.ports().clock.now();
    let previous = endpoint.previous.as_ref().filter(|previous| now < previous.until);
    let shown = ShowPage {
        page: context.layout(),
        t,
        error,
        url: endpoint.url.to_string(),
        created: When::of(endpoint.created_at, context.language),
        previous_until: previous.map(|previous| When::of(previous.until, context.language)),
        health: health::read(context, endpoint).await?,
        fields,
        graces: [
            (0, t.grace_none),
            (HOUR_S, t.grace_hour),
            (DEFAULT_GRACE_S, t.grace_day),
            (MAX_GRACE_S, t.grace_week),
        ]
        .map(|(seconds, name)| Grace { seconds, name, is_default: seconds == DEFAULT_GRACE_S }),
        is_first_page: cursor.is_none(),
        is_fresh: cursor.is_none() && rows.iter().any(|(row, _)| row.is_fresh),
        deliveries: rows,
        older,
        id,
    };
    Ok(context.page(status, &shown))
}
