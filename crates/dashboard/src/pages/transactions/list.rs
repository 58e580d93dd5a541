//! Lists the transactions of the account by a filter or a search, and returns filtered transactions as a CSV file.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::charge::ChargeTerms;
use cais_domain::timeline::{Direction, TransactionStatus};
use cais_ports::{CsvDialect, Page, Transaction};
use cais_use_cases::timeline::{parse_id, public_id};
use cais_use_cases::{search, timeline};

use super::filter::{Fields, InvalidFilter};
use crate::download;
use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER};
use crate::texts::Language;
use crate::texts::transactions::TransactionsTexts;

/// The number of rows on a page.
const PAGE_ROWS: u32 = 50;
/// The most characters of a search: as many as the longest identifier has. A longer search finds nothing.
const MAX_SEARCH_CHARS: usize = 120;
/// The value of the parameter `csv` for a file in the dialect of Excel in Brazil, as in the API.
const EXCEL: &str = "excel-br";

#[derive(Template)]
#[template(path = "transactions.html")]
struct TransactionsPage {
    page: Layout,
    t: &'static TransactionsTexts,
    error: Option<&'static str>,
    search: String,
    fields: Fields,
    directions: Vec<Choice>,
    statuses: Vec<Choice>,
    rows: Vec<Row>,
    /// The path of the next older rows; `None` on the last page.
    next: Option<String>,
    /// The path of the newest rows; `None` on the first page.
    first: Option<String>,
    csv: String,
    excel: String,
}

/// An option of a filter.
struct Choice {
    value: &'static str,
    text: &'static str,
    is_chosen: bool,
}

struct Row {
    created: When,
    kind: &'static str,
    link: Option<String>,
    reference: String,
    amount: String,
    is_out: bool,
    fee: String,
    status: &'static str,
    tone: &'static str,
}

/// Shows a page of the list, or the result of a search.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let ports = &context.dashboard.logins.ports;
    let fields = Fields::of(&query);
    let (search, cursor) = (query.get("q").unwrap_or_default(), query.get(STARTING_AFTER));
    let t = TransactionsTexts::of(context.language);
    let none = Page { rows: Vec::new(), has_more: false };
    let (found, error) = if search.is_empty() {
        let after = cursor.map(parse_id).transpose().map_err(|_| Failure::NotFound)?;
        match fields.filter() {
            Ok(filter) => (timeline::list(ports, account, filter, PAGE_ROWS, after).await?, None),
            Err(InvalidFilter) => (none, Some(t.wrong)),
        }
    } else if search.chars().count() <= MAX_SEARCH_CHARS {
        (Page { rows: search::find(ports, account, search).await?, has_more: false }, None)
    } else {
        (none, None)
    };
    let last = found.rows.last().filter(|_| found.has_more);
    let next = last.map(|row| public_id((row.direction(), row.key())));
    let status = if error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let shown = TransactionsPage {
        page: context.layout(),
        t,
        error,
        search: search.to_owned(),
        directions: directions(t, &fields),
        statuses: statuses(t, &fields),
        rows: found.rows.iter().map(|row| Row::of(row, t, context.language)).collect(),
        next: next.map(|id| fields.address("/transactions", &[(STARTING_AFTER, &id)])),
        first: cursor.is_some().then(|| fields.address("/transactions", &[])),
        csv: fields.address("/transactions.csv", &[]),
        excel: fields.address("/transactions.csv", &[("csv", EXCEL)]),
        fields,
    };
    Ok(context.page(status, &shown))
}

/// Returns all transactions that match the filter as CSV, with the columns of the API.
pub(crate) async fn download(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let filter = Fields::of(&query).filter().map_err(|InvalidFilter| Failure::NotFound)?;
    let dialect = if query.get("csv") == Some(EXCEL) { CsvDialect::ExcelBr } else { CsvDialect::Standard };
    let ports = context.dashboard.logins.ports.clone();
    let read = async move |after: Option<timeline::Cursor>| {
        let page = timeline::list(&ports, account, filter, download::ROWS, after).await?;
        let text = ports.representation.transactions_csv(&page.rows, dialect, after.is_none());
        let next = page.rows.last().filter(|_| page.has_more).map(|row| (row.direction(), row.key()));
        Ok((text.map_err(Failure::Unavailable)?, next))
    };
    context.dashboard.downloads.csv(account, "transactions.csv", read).await
}

fn directions(t: &'static TransactionsTexts, fields: &Fields) -> Vec<Choice> {
    let choice = |direction: Direction| Choice {
        value: direction.as_str(),
        text: direction_text(t, direction),
        is_chosen: fields.direction == direction.as_str(),
    };
    Direction::ALL.into_iter().map(choice).collect()
}

fn statuses(t: &'static TransactionsTexts, fields: &Fields) -> Vec<Choice> {
    let choice = |status: TransactionStatus| Choice {
        value: status.as_str(),
        text: status_text(t, status).0,
        is_chosen: fields.status == status.as_str(),
    };
    TransactionStatus::ALL.into_iter().map(choice).collect()
}

const fn direction_text(t: &TransactionsTexts, direction: Direction) -> &'static str {
    match direction {
        Direction::CashIn => t.cash_in,
        Direction::CashOut => t.cash_out,
    }
}

/// Returns the text and the CSS class of a status.
const fn status_text(t: &TransactionsTexts, status: TransactionStatus) -> (&'static str, &'static str) {
    match status {
        TransactionStatus::Pending => (t.pending, "waits"),
        TransactionStatus::Processing => (t.processing, "waits"),
        TransactionStatus::Completed => (t.completed, "good"),
        TransactionStatus::Failed => (t.failed, "bad"),
        TransactionStatus::Cancelled => (t.cancelled, "over"),
        TransactionStatus::Refunded => (t.refunded, "over"),
    }
}

impl Row {
    fn of(transaction: &Transaction, t: &'static TransactionsTexts, language: Language) -> Self {
        match transaction {
            Transaction::Charge(charge) => {
                let status = TransactionStatus::of_charge(charge.state.status());
                let (status, tone) = status.map_or(("", ""), |status| status_text(t, status));
                Self {
                    created: When::of(charge.created_at, language),
                    kind: t.charge,
                    link: Some(format!("/charges/{}", charge.id)),
                    reference: reference(&charge.terms),
                    amount: brl(charge.terms.amount, language),
                    is_out: false,
                    fee: brl(charge.terms.fee, language),
                    status,
                    tone,
                }
            }
            Transaction::Payout(payout) => {
                let status = TransactionStatus::of_payout(payout.state.status());
                let (status, tone) = status.map_or(("", ""), |status| status_text(t, status));
                let terms = &payout.terms;
                let external = terms.external_id.as_ref().map(ToString::to_string);
                let description = terms.description.as_ref().map(|text| text.as_str().to_owned());
                Self {
                    created: When::of(payout.created_at, language),
                    kind: t.payout,
                    link: Some(format!("/payouts/{}", payout.id)),
                    reference: external.or(description).unwrap_or_default(),
                    amount: brl(terms.amount, language),
                    is_out: true,
                    fee: brl(terms.fee, language),
                    status,
                    tone,
                }
            }
            Transaction::SplitCredit(credit) => Self {
                created: When::of(credit.created_at, language),
                kind: t.split,
                link: None,
                reference: String::new(),
                amount: brl(credit.amount, language),
                is_out: false,
                fee: brl(cais_domain::money::Money::ZERO, language),
                status: t.completed,
                tone: "good",
            },
        }
    }
}

/// Returns the text by which the merchant recognizes a charge: the external id, else the description, else the payer's
/// name.
fn reference(terms: &ChargeTerms) -> String {
    let external = terms.external_id.as_ref().map(ToString::to_string);
    let text = terms.description.as_ref().or(terms.payer_name.as_ref()).map(|text| text.as_str().to_owned());
    external.or(text).unwrap_or_default()
}
