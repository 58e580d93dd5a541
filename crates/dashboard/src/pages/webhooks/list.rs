//! Lists the webhook endpoints of the account with their health.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::merchant::webhook::MAX_ENDPOINTS;
use cais_ports::PageRequest;
use cais_use_cases::webhooks::list as endpoints;

use super::health::{self, Health};
use crate::failure::Failure;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::webhooks::WebhookTexts;

#[derive(Template)]
#[template(path = "webhooks/list.html")]
struct ListPage {
    page: Layout,
    t: &'static WebhookTexts,
    endpoints: Vec<Row>,
}

struct Row {
    id: String,
    url: String,
    events: String,
    health: Health,
}

/// Shows the list. An account has few endpoints, so the list has one page.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let all = PageRequest { limit: u32::from(MAX_ENDPOINTS), starting_after: None };
    let mut rows = Vec::new();
    for endpoint in endpoints::list(context.ports(), account, all).await?.rows {
        rows.push(Row {
            id: endpoint.id.to_string(),
            url: endpoint.url.to_string(),
            events: endpoint.subscription.names().join(", "),
            health: health::read(&context, &endpoint).await?,
        });
    }
    Ok(context.ok(&ListPage { page: context.layout(), t: WebhookTexts::of(context.language), endpoints: rows }))
}
