//! Lists the deposits of the account.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::crypto::Deposit;
use cais_ports::PageRequest;
use cais_use_cases::crypto::deposits::list;

use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::query::{Query, STARTING_AFTER};
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;
use crate::visit::Visit;

/// The deposits of a page.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "crypto/deposits.html")]
struct DepositsPage {
    page: Layout,
    t: &'static CryptoTexts,
    deposits: Vec<Row>,
    is_first: bool,
    next: Option<String>,
}

struct Row {
    id: String,
    status: &'static str,
    status_name: &'static str,
    amount: String,
    coins: String,
    external_id: String,
    created: When,
}

/// Shows a page of the list.
pub(crate) async fn show(visit: Visit, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = visit.merchant()?;
    let starting_after = query.id(STARTING_AFTER)?;
    let page = PageRequest { limit: ROWS, starting_after };
    let listed = list::list(&visit.dashboard.logins.ports, account, page).await?;
    let next = listed.rows.last().filter(|_| listed.has_more).map(|deposit| deposit.id.to_string());
    let deposits = listed.rows.iter().map(|deposit| row(deposit, visit.language)).collect();
    let (t, is_first) = (CryptoTexts::of(visit.language), starting_after.is_none());
    Ok(visit.ok(&DepositsPage { page: visit.layout(), t, deposits, is_first, next }))
}

fn row(deposit: &Deposit, language: Language) -> Row {
    let (terms, status) = (&deposit.terms, deposit.state.status());
    Row {
        id: deposit.id.to_string(),
        status: status.as_str(),
        status_name: CryptoTexts::of(language).deposit(status),
        amount: brl(terms.amount, language),
        coins: format!("{} {}", deposit.price.coins, terms.currency),
        external_id: terms.external_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        created: When::of(deposit.created_at, language),
    }
}
