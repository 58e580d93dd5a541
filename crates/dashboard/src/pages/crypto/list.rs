//! Lists the crypto deposits, or the crypto withdrawals, of the account.

use actix_web::HttpResponse;
use askama::Template;
use cais_domain::crypto::{Deposit, Withdrawal};
use cais_ports::{Page, PageRequest};
use cais_use_cases::crypto::{deposits, withdrawals};

use crate::failure::Failure;
use crate::format::{When, brl, decimal};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER};
use crate::texts::Language;
use crate::texts::crypto::CryptoTexts;

/// The number of rows on a page.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "crypto/list.html")]
struct ListPage {
    page: Layout,
    t: &'static CryptoTexts,
    kind: Kind,
    rows: Vec<Row>,
    is_first: bool,
    next: Option<String>,
}

/// The texts and the path of a list.
struct Kind {
    path: &'static str,
    title: &'static str,
    new: &'static str,
    empty: &'static str,
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

/// Shows a page of the deposits.
pub(crate) async fn deposits(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let starting_after = query.id(STARTING_AFTER)?;
    let page = PageRequest { limit: ROWS, starting_after };
    let listed = deposits::list::list(context.ports(), account, page).await?;
    let t = CryptoTexts::of(context.language);
    let kind = Kind { path: "/crypto/deposits", title: t.deposits, new: t.new_deposit, empty: t.no_deposits };
    Ok(shown(&context, kind, starting_after.is_none(), &listed, deposit))
}

/// Shows a page of the withdrawals.
pub(crate) async fn withdrawals(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let starting_after = query.id(STARTING_AFTER)?;
    let page = PageRequest { limit: ROWS, starting_after };
    let listed = withdrawals::list::list(context.ports(), account, page).await?;
    let t = CryptoTexts::of(context.language);
    let kind =
        Kind { path: "/crypto/withdrawals", title: t.withdrawals, new: t.new_withdrawal, empty: t.no_withdrawals };
    Ok(shown(&context, kind, starting_after.is_none(), &listed, withdrawal))
}

fn shown<R>(
    context: &PageContext,
    kind: Kind,
    is_first: bool,
    listed: &Page<R>,
    row: impl Fn(&R, Language) -> Row,
) -> HttpResponse {
    let rows: Vec<Row> = listed.rows.iter().map(|record| row(record, context.language)).collect();
    let next = rows.last().filter(|_| listed.has_more).map(|row| row.id.clone());
    let (page, t) = (context.layout(), CryptoTexts::of(context.language));
    context.ok(&ListPage { page, t, kind, rows, is_first, next })
}

fn deposit(deposit: &Deposit, language: Language) -> Row {
    let (terms, status) = (&deposit.terms, deposit.state.status());
    Row {
        id: deposit.id.to_string(),
        status: status.as_str(),
        status_name: CryptoTexts::of(language).deposit(status),
        amount: brl(terms.amount, language),
        coins: format!("{} {}", decimal(&deposit.price.coins.to_string(), language), terms.currency),
        external_id: terms.external_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        created: When::of(deposit.created_at, language),
    }
}

fn withdrawal(withdrawal: &Withdrawal, language: Language) -> Row {
    let (terms, status) = (&withdrawal.terms, withdrawal.state.status());
    Row {
        id: withdrawal.id.to_string(),
        status: status.as_str(),
        status_name: CryptoTexts::of(language).withdrawal(status),
        amount: brl(terms.amount, language),
        coins: format!("{} {}", decimal(&withdrawal.price.coins.to_string(), language), terms.address.currency()),
        external_id: terms.external_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        created: When::of(withdrawal.created_at, language),
    }
}
