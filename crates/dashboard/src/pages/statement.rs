//! The statement: every entry on the balance, newest first, and the same entries as CSV.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::ledger::{Bucket, EntryKind};
use cais_ports::{CsvDialect, EntryFilter, PageRequest, Span, StatementEntry};
use cais_use_cases::{days, statement};

use crate::download;
use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::Language;
use crate::texts::statement::StatementTexts;

/// The number of entries on a page.
const ROWS: u32 = 50;
/// The value of the parameter `csv` for a file in the dialect of Excel in Brazil, as in the API.
const EXCEL: &str = "excel-br";
/// The buckets whose entries a statement contains.
const BUCKETS: [Bucket; 3] = [Bucket::Available, Bucket::Pending, Bucket::Blocked];

#[derive(Template)]
#[template(path = "statement.html")]
struct StatementPage<'a> {
    page: Layout,
    t: &'static StatementTexts,
    error: Option<&'static str>,
    from: &'a str,
    to: &'a str,
    buckets: Vec<Choice>,
    kinds: Vec<Choice>,
    entries: Vec<Row>,
    csv: String,
    excel: String,
    newest: Option<String>,
    next: Option<String>,
}

struct Choice {
    value: &'static str,
    name: &'static str,
    is_chosen: bool,
}

struct Row {
    at: When,
    kind: &'static str,
    bucket: &'static str,
    amount: String,
    is_debit: bool,
    after: String,
    resource: Option<Resource>,
    description: String,
}

struct Resource {
    id: String,
    link: Option<String>,
}

/// Shows a page of the statement.
pub(crate) async fn show(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let t = StatementTexts::of(context.language);
    let (starting_after, filter) = (query.id(STARTING_AFTER)?, filter(&query));
    let page = PageRequest { limit: ROWS, starting_after };
    let ports = &context.dashboard.logins.ports;
    let listed = match filter {
        Some(filter) => Some(statement::list(ports, account, filter, page).await?),
        None => None,
    };
    let chosen = filter.unwrap_or_default();
    let (rows, has_more) = listed.map_or_else(|| (Vec::new(), false), |listed| (listed.rows, listed.has_more));
    let next =
        rows.last().filter(|_| has_more).map(|last| link("/statement", &query, (STARTING_AFTER, &last.id.to_string())));
    let shown = StatementPage {
        page: context.layout(),
        t,
        error: filter.is_none().then_some(t.wrong),
        from: query.get("created_from").unwrap_or_default(),
        to: query.get("created_to").unwrap_or_default(),
        buckets: choices(&BUCKETS, chosen.bucket, Bucket::as_str, |bucket| t.bucket_of(bucket)),
        kinds: choices(&EntryKind::ALL, chosen.kind, EntryKind::as_str, |kind| t.kind_of(kind)),
        entries: rows.into_iter().map(|entry| row(entry, context.language)).collect(),
        csv: link("/statement.csv", &query, ("csv", "")),
        excel: link("/statement.csv", &query, ("csv", EXCEL)),
        newest: starting_after.map(|_| link("/statement", &query, (STARTING_AFTER, ""))),
        next,
    };
    let status = if filter.is_some() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok(context.page(status, &shown))
}

/// Returns all entries that match the filter as CSV, with the columns of the API.
pub(crate) async fn download(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let filter = filter(&query).ok_or(Failure::NotFound)?;
    let dialect = if query.get("csv") == Some(EXCEL) { CsvDialect::ExcelBr } else { CsvDialect::Standard };
    let ports = context.dashboard.logins.ports.clone();
    let read = async move |starting_after| {
        let page = PageRequest { limit: download::ROWS, starting_after };
        let listed = statement::list(&ports, account, filter, page).await?;
        let next = listed.rows.last().filter(|_| listed.has_more).map(|entry| entry.id);
        Ok((ports.representation.entries_csv(listed.rows, dialect, starting_after.is_none()), next))
    };
    context.dashboard.downloads.csv(account, "statement.csv", read).await
}

/// Returns the filter in the query of the URL; `None` if a value is malformed or the period is reversed.
fn filter(query: &Query) -> Option<EntryFilter> {
    let bucket = known(query.get("bucket"), &BUCKETS, Bucket::as_str).ok()?;
    let kind = known(query.get("kind"), &EntryKind::ALL, EntryKind::as_str).ok()?;
    let from = query.get("created_from").map(days::beginning).transpose().ok()?;
    let until = query.get("created_to").map(days::end).transpose().ok()?;
    let created = Span { from, until };
    if days::is_reversed(created) { None } else { Some(EntryFilter { bucket, kind, created }) }
}

/// The error of a name that is not one of the permitted names.
struct Unknown;

/// Returns the value with this name; `None` without a name.
fn known<T: Copy>(name: Option<&str>, all: &[T], text_of: impl Fn(T) -> &'static str) -> Result<Option<T>, Unknown> {
    let find = |name| all.iter().copied().find(|value| text_of(*value) == name).ok_or(Unknown);
    name.map(find).transpose()
}

fn choices<T: Copy + PartialEq>(
    all: &[T],
    chosen: Option<T>,
    value_of: impl Fn(T) -> &'static str,
    name_of: impl Fn(T) -> &'static str,
) -> Vec<Choice> {
    let choice = |each: &T| Choice { value: value_of(*each), name: name_of(*each), is_chosen: chosen == Some(*each) };
    all.iter().map(choice).collect()
}

/// Returns the path with the filter of `query` and one further parameter. A parameter with an empty value is left out.
fn link(path: &str, query: &Query, (name, value): (&str, &str)) -> String {
    let filter = ["bucket", "kind", "created_from", "created_to"];
    let mut parameters: Vec<_> = filter.map(|name| (name, query.get(name).unwrap_or_default())).into();
    parameters.push((name, value));
    path_with(path, &parameters)
}

fn row(entry: StatementEntry, language: Language) -> Row {
    let t = StatementTexts::of(language);
    Row {
        at: When::of(entry.created_at, language),
        kind: t.kind_of(entry.kind),
        bucket: t.bucket_of(entry.bucket),
        amount: brl(entry.amount, language),
        is_debit: entry.amount.is_negative(),
        after: brl(entry.balance_after, language),
        resource: entry.resource.map(|id| Resource { link: link_of(&id), id }),
        description: entry.description.unwrap_or_default(),
    }
}

/// Returns the path of a resource's page, which follows from the prefix of the id; `None` for a resource without a
/// page, such as a refund.
fn link_of(id: &str) -> Option<String> {
    let (prefix, _) = id.rsplit_once('_')?;
    let folder = match prefix {
        "chg" => "/charges",
        "pyt" => "/payouts",
        "inf" => "/infractions",
        "cdp" => "/crypto/deposits",
        "cwd" => "/crypto/withdrawals",
        _ => return None,
    };
    Some(format!("{folder}/{id}"))
}
