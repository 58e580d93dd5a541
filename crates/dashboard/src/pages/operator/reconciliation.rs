//! Compares the stored records of one day with the lists of the acquirers and of the crypto processor. Differences are
//! shown, not repaired.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use cais_domain::money::Money;
use cais_use_cases::days;
use cais_use_cases::reconcile::{self, Report};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};

use crate::failure::Failure;
use crate::form::Form;
use crate::format::{self, When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::checks::CheckTexts;
use crate::texts::differences::DifferenceTexts;

/// The largest number of shown differences, and of shown unreadable rows.
const SHOWN: usize = 200;

/// The result of a comparison.
#[derive(Debug)]
pub(crate) struct ComparedDay {
    day: String,
    report: Report,
}

#[derive(Template)]
#[template(path = "operator/reconciliation.html")]
struct ReconciliationPage<'a> {
    page: Layout,
    t: &'static CheckTexts,
    error: Option<&'a str>,
    day: String,
    running: Option<When>,
    last: Option<(When, Result<View, String>)>,
}

struct View {
    day: String,
    counts: Vec<(&'static str, u64)>,
    /// The lists that could not be read to their end, and the unreadable rows: the acquirer and the cause of each.
    unread: Vec<(String, String)>,
    differences: Vec<Row>,
    has_more: bool,
}

struct Row {
    kind: &'static str,
    /// The kind as the command line shows it.
    code: &'static str,
    acquirer: String,
    ours: String,
    theirs: String,
    resource: String,
    upstream_id: String,
}

/// Shows the last comparison of this process.
pub(crate) async fn show(context: PageContext) -> Result<HttpResponse, Failure> {
    page(&context, None, None)
}

/// Compares a day, and shows the result if the comparison ends within the time limit of the request. The comparison
/// changes no record, so the operator enters no confirmation code.
pub(crate) async fn start(form: Form) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    context.operator()?;
    let (ports, now, day) = (context.ports().clone(), context.ports().clock.now(), form.get("day").to_owned());
    let Some((from, until)) = span(&day, now) else {
        return page(context, Some(&day), Some(CheckTexts::of(context.language).day_wrong));
    };
    let compared = day.clone();
    let work = async move {
        let report = reconcile::run(&ports, from, until, false, &|_| {}).await.map_err(|error| error.to_string())?;
        Ok(ComparedDay { day: compared, report })
    };
    context.dashboard.checks.reconciliation.start(now, work).await;
    page(context, Some(&day), None)
}

/// Returns the part of the day that is over; `None` for an invalid or future day.
fn span(day: &str, now: Timestamp) -> Option<(Timestamp, Timestamp)> {
    let (from, until) = (days::beginning(day).ok()?, days::end(day).ok()?.min(now));
    if from < until { Some((from, until)) } else { None }
}

/// Returns the page. The form contains the chosen day, otherwise the last compared day, otherwise yesterday.
fn page(context: &PageContext, chosen: Option<&str>, error: Option<&str>) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let (state, language) = (context.dashboard.checks.reconciliation.state(), context.language);
    let t = CheckTexts::of(language);
    let yesterday = context.ports().clock.now().to_zoned(days::sao_paulo()).date().saturating_sub(1.day());
    let compared = state.last.as_ref().and_then(|(_, result)| result.as_ref().ok()).map(|compared| &*compared.day);
    let day = chosen.or(compared).map_or_else(|| yesterday.to_string(), str::to_owned);
    let last = state.last.map(|(at, result)| (When::of(at, language), result.map(|one| view(&one, language))));
    let running = state.running_since.map(|since| When::of(since, language));
    let shown = ReconciliationPage { page: context.layout(), t, error, day, running, last };
    Ok(context.page(if error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }, &shown))
}

fn view(compared: &ComparedDay, language: Language) -> View {
    let (report, t, names) = (&compared.report, CheckTexts::of(language), DifferenceTexts::of(language));
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    let value = |text: &Option<String>| text.as_deref().map_or_else(|| "–".to_owned(), |text| value(text, language));
    let differences = report.differences.iter().filter(|one| !one.repaired).take(SHOWN).map(|one| Row {
        kind: names.kind(one.kind),
        code: one.kind.as_str(),
        acquirer: one.acquirer.to_string(),
        ours: value(&one.ours),
        theirs: value(&one.theirs),
        resource: or_dash(&one.resource),
        upstream_id: one.upstream_id.clone(),
    });
    let unread = report.unread.iter().map(|(acquirer, cause)| (acquirer.to_string(), cause.clone()));
    let unreadable = report.unreadable.iter().take(SHOWN);
    let unreadable = unreadable.map(|(acquirer, row)| (acquirer.to_string(), format!("{}: {}", row.name, row.reason)));
    View {
        day: compared.day.parse::<Date>().map_or_else(|_| compared.day.clone(), |day| format::day(day, language)),
        counts: vec![
            (t.received, report.received),
            (t.sent, report.sent),
            (t.returned, report.refunds),
            (t.deposits, report.deposits),
            (t.withdrawals, report.withdrawals),
        ],
        unread: unread.chain(unreadable).collect(),
        differences: differences.collect(),
        has_more: report.more || report.differences.len().max(report.unreadable.len()) > SHOWN,
    }
}

/// Returns an amount or a status of a difference in the user's language. Any other text is returned unchanged.
fn value(text: &str, language: Language) -> String {
    if let Ok(amount) = Money::parse(text) {
        return brl(amount, language);
    }
    DifferenceTexts::of(language).status(text).unwrap_or(text).to_owned()
}
