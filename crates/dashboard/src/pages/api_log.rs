//! Lists the newest API requests that were sent with the account's keys.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::ids::RequestId;
use cais_ports::{LoggedRequest, PageRequest};

use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::Language;
use crate::texts::home::HomeTexts;

/// The number of requests on a page.
const PAGE: u32 = 50;
/// The lowest HTTP status that counts as a failure.
const FAILURES_FROM: u16 = 400;

#[derive(Template)]
#[template(path = "api_log.html")]
struct LogPage {
    page: Layout,
    t: &'static HomeTexts,
    dropped: u64,
    requests: Vec<Row>,
    older: Option<String>,
}

struct Row {
    id: String,
    at: When,
    method: String,
    path: String,
    status: u16,
    is_failure: bool,
    took_ms: u32,
    key: String,
}

/// Shows a page of the list.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let cursor = query.get(STARTING_AFTER).map(RequestId::parse).transpose().map_err(|_| Failure::NotFound)?;
    let request = PageRequest { limit: PAGE, starting_after: cursor };
    let listed = context.ports().queries.list_requests(account, request).await?;
    let last = listed.rows.last().filter(|_| listed.has_more).map(|request| request.id.to_string());
    Ok(context.ok(&LogPage {
        page: context.layout(),
        t: HomeTexts::of(context.language),
        dropped: context.dashboard.requests.dropped(account),
        requests: listed.rows.into_iter().map(|request| row(request, context.language)).collect(),
        older: last.map(|last| path_with("/api-log", &[(STARTING_AFTER, &last)])),
    }))
}

fn row(request: LoggedRequest, language: Language) -> Row {
    Row {
        id: request.id.to_string(),
        at: When::of(request.at, language),
        is_failure: request.status >= FAILURES_FROM,
        method: request.method,
        path: request.path,
        status: request.status,
        took_ms: request.took_ms,
        key: request.key.to_string(),
    }
}
