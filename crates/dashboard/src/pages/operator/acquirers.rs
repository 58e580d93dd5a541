//! The acquirers of the configuration with their open orders and their breakers.

use actix_web::HttpResponse;
use askama::Template;
use cais_ports::OpenOrders;

use crate::failure::Failure;
use crate::format::When;
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::operator::OperatorTexts;

#[derive(Template)]
#[template(path = "operator/acquirers.html")]
struct AcquirersPage {
    page: Layout,
    t: &'static OperatorTexts,
    acquirers: Vec<Row>,
}

struct Row {
    name: String,
    open: OpenOrders,
    drained: Option<When>,
    /// `true` if the breaker of this process refuses calls now.
    is_refusing: bool,
}

/// Shows the acquirers in the order of the configuration. An installation has few, so one query for each is acceptable.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let ports = context.ports();
    let drains = ports.queries.list_drains().await?;
    let mut acquirers = Vec::new();
    for name in ports.acquirers.names() {
        let drain = drains.iter().find(|drain| drain.acquirer == name).and_then(|drain| drain.since);
        acquirers.push(Row {
            open: ports.queries.count_open_orders(&name).await?,
            drained: drain.map(|since| When::of(since, context.language)),
            is_refusing: ports.acquirers.is_refusing(&name),
            name: name.to_string(),
        });
    }
    Ok(context.ok(&AcquirersPage { page: context.layout(), t: OperatorTexts::of(context.language), acquirers }))
}
