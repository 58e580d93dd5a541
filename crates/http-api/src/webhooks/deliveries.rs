//! `GET /v1/webhook-endpoints/{id}/deliveries`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::webhooks::deliveries;

use crate::context::{Authorized, WebhooksRead};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfRead};
use crate::error::ApiError;
use crate::input::Input;
use crate::named::ById;
use crate::paging::PageQuery;
use crate::reply;
use crate::resources::values::Page;
use crate::resources::webhook::{Delivery, DeliveryPage};

/// Returns a page of an endpoint's deliveries, sent or waiting, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for a malformed id or an invalid parameter; `not_found`; an error of the store.
#[utoipa::path(
    operation_id = "listWebhookDeliveries",
    tag = "webhooks",
    summary = "List the deliveries to a webhook endpoint",
    description = "Newest first, with cursor pagination. Each delivery has its attempts, at most the last 50. Scope: `webhooks:read`.",
    params(ById<kind::Endpoint>, PageQuery<kind::Delivery>),
    responses(
        (status = 200, description = "A page of deliveries.", body = DeliveryPage,
            example = json!(examples::deliveries())),
        Errors<(OfRead,)>,
    ),
)]
#[get("/webhook-endpoints/{id}/deliveries")]
pub async fn list_deliveries(
    call: Authorized<WebhooksRead>,
    input: Input<(ById<kind::Endpoint>, PageQuery<kind::Delivery>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((ById(endpoint), PageQuery(request))) = input;
    let page = deliveries::list(&call.state.ports, call.caller.account.id, endpoint, request).await?;
    let rows = page.rows.iter().map(Delivery::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|delivery| &delivery.id);
    Ok(reply::json(StatusCode::OK, &Page::new(rows, last)))
}
