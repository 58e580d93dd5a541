//! Lists the payouts of the account.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::external_id::ExternalId;
use cais_domain::payout::Payout;
use cais_ports::PageRequest;
use cais_use_cases::payouts::list;

use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER};
use crate::texts::Language;
use crate::texts::payouts::PayoutTexts;

/// The number of payouts on a page.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "payouts/list.html")]
struct PayoutsPage {
    page: Layout,
    t: &'static PayoutTexts,
    payouts: Vec<Row>,
    is_first: bool,
    next: Option<String>,
}

struct Row {
    id: String,
    status: &'static str,
    status_name: &'static str,
    amount: String,
    kind: &'static str,
    key: String,
    recipient: String,
    external_id: String,
    created: When,
}

/// Shows a page of the list.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let starting_after = query.id(STARTING_AFTER)?;
    let page = PageRequest { limit: ROWS, starting_after };
    let listed = list::list(&context.dashboard.logins.ports, account, page).await?;
    let next = listed.rows.last().filter(|_| listed.has_more).map(|payout| payout.id.to_string());
    let payouts = listed.rows.iter().map(|payout| row(payout, context.language)).collect();
    let (t, is_first) = (PayoutTexts::of(context.language), starting_after.is_none());
    Ok(context.ok(&PayoutsPage { page: context.layout(), t, payouts, is_first, next }))
}

fn row(payout: &Payout, language: Language) -> Row {
    let (t, terms, status) = (PayoutTexts::of(language), &payout.terms, payout.state.status());
    Row {
        id: payout.id.to_string(),
        status: status.as_str(),
        status_name: t.status_of(status),
        amount: brl(terms.amount, language),
        kind: t.kind_of(terms.pix_key.key_type()),
        key: terms.pix_key.to_string(),
        recipient: payout.recipient.name.clone().unwrap_or_default(),
        external_id: terms.external_id.as_ref().map(ExternalId::to_string).unwrap_or_default(),
        created: When::of(payout.created_at, language),
    }
}
