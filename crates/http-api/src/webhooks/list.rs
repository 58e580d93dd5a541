//! `GET /v1/webhook-endpoints`.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, get};
use cais_domain::ids::kind;
use cais_use_cases::webhooks::list;

use crate::context::{Authorized, WebhooksRead};
use crate::describe::examples;
use crate::describe::failures::Errors;
use crate::error::{ApiError, code};
use crate::input::Input;
use crate::paging::PageQuery;
use crate::reply;
use crate::resources::values::Page;
use crate::resources::webhook::{WebhookEndpoint, WebhookEndpointPage};
use crate::statement::list_error;

/// Returns a page of endpoints, newest first.
///
/// # Errors
/// `VALIDATION_ERROR` for an invalid parameter; an error of the store.
#[utoipa::path(
    operation_id = "listWebhookEndpoints",
    tag = "webhooks",
    summary = "List webhook endpoints",
    description = "Newest first, with cursor pagination. Scope: `webhooks:read`.",
    params(PageQuery<kind::Endpoint>),
    responses(
        (status = 200, description = "A page of endpoints.", body = WebhookEndpointPage,
            example = json!(examples::endpoints())),
        Errors<(code::ValidationError,)>,
    ),
)]
#[get("/webhook-endpoints")]
pub async fn list_endpoints(
    call: Authorized<WebhooksRead>,
    input: Input<PageQuery<kind::Endpoint>>,
) -> Result<HttpResponse, ApiError> {
    let Input(PageQuery(request)) = input;
    let page = list::list(&call.state.ports, call.caller.account.id, request).await;
    let page = page.map_err(|error| list_error(error, "names no webhook endpoint of this account"))?;
    let rows = page.rows.iter().map(WebhookEndpoint::from).collect();
    let last = page.rows.last().filter(|_| page.has_more).map(|endpoint| &endpoint.id);
    Ok(reply::json(StatusCode::OK, &Page::new(rows, last)))
}
