//! The infractions that wait for an operator: the list, one infraction, and the first step of its decision.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use cais_domain::ids::InfractionId;
use cais_domain::infraction::Infraction;
use cais_domain::review_decision::{InfractionDecision, ReviewDecision, parse_note};
use cais_ports::{PageRequest, PendingAction};
use cais_use_cases::infractions::list;
use cais_use_cases::logins::begin;

use crate::failure::Failure;
use crate::form::Form;
use crate::format::{When, brl};
use crate::input;
use crate::layout::{Layout, redirect};
use crate::page_context::PageContext;
use crate::pages::infractions::list::held;
use crate::query::{Query, STARTING_AFTER, path_with};
use crate::texts::infractions::InfractionTexts;
use crate::texts::operator::OperatorTexts;
use crate::texts::reviews::ReviewTexts;

/// The number of infractions on a page.
const PAGE: u32 = 50;
/// The path of the list.
pub(super) const PATH: &str = "/operator/infractions";

#[derive(Template)]
#[template(path = "operator/infractions.html")]
struct InfractionsPage {
    page: Layout,
    t: &'static ReviewTexts,
    i: &'static InfractionTexts,
    o: &'static OperatorTexts,
    infractions: Vec<View>,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "operator/infraction.html")]
struct InfractionPage<'a> {
    page: Layout,
    t: &'static ReviewTexts,
    i: &'static InfractionTexts,
    o: &'static OperatorTexts,
    error: Option<&'a str>,
    is_changed: bool,
    infraction: View,
    blocked: Option<String>,
    /// The values of the fields `lost_amount` and `note` in a refused form, otherwise empty.
    lost_amount: &'a str,
    note: &'a str,
}

struct View {
    id: String,
    version: i64,
    account: String,
    status: &'static str,
    status_name: &'static str,
    needs_review: bool,
    review_reason: &'static str,
    since: Option<When>,
    amount: String,
    limit: String,
    deadline: Option<When>,
    charge: String,
    end_to_end_id: String,
    acquirer: String,
    upstream_id: String,
    situation: &'static str,
    reported: Option<String>,
    defense: Option<String>,
}

/// Shows a page of the list, newest first.
pub(crate) async fn list(context: PageContext, query: Query) -> Result<HttpResponse, Failure> {
    context.operator()?;
    let page = PageRequest { limit: PAGE, starting_after: query.id(STARTING_AFTER)? };
    let found = list::list_for_review(context.ports(), page).await?;
    let last = found.rows.last().filter(|_| found.has_more).map(|infraction| infraction.id.to_string());
    let next = last.map(|last| path_with(PATH, &[(STARTING_AFTER, &last)]));
    let infractions = found.rows.into_iter().map(|infraction| view(&context, infraction)).collect();
    let (t, i, o) = texts(&context);
    Ok(context.ok(&InfractionsPage { page: context.layout(), t, i, o, infractions, next }))
}

/// Shows an infraction. While the infraction waits for a decision, the page has the form of the decision.
pub(crate) async fn show(
    context: PageContext,
    id: web::Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, Failure> {
    let infraction = find(&context, &id).await?;
    page(&context, infraction, request.query_string() == "changed", (None, "", "")).await
}

/// Stores the decision until its confirmation by a one-time code.
pub(crate) async fn submit(form: Form, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    let context = &form.context;
    let infraction = find(context, &id).await?;
    match decision(&form, &infraction, ReviewTexts::of(context.language)) {
        Ok(action) => {
            let id = begin::begin(&context.dashboard.logins, context.operator()?, action).await?;
            Ok(redirect(&format!("/confirm/{id}")))
        }
        Err(error) => page(context, infraction, false, (Some(error), form.get("lost_amount"), form.get("note"))).await,
    }
}

/// Reads the decision from a form. The error is the message about the form's first mistake.
fn decision(form: &Form, infraction: &Infraction, t: &'static ReviewTexts) -> Result<PendingAction, &'static str> {
    if !infraction.needs_review() {
        return Err(t.not_waiting);
    }
    let seen = form.get("version").parse().ok().filter(|seen| *seen == infraction.version).ok_or(t.changed)?;
    let lost_amount = match form.get("lost_amount") {
        "" => None,
        text => Some(input::amount(text).filter(|amount| amount.is_positive()).ok_or(t.amount_wrong)?),
    };
    let decision = match (form.get("outcome"), lost_amount) {
        ("lost", amount) => InfractionDecision::Lost(amount),
        ("won", None) => InfractionDecision::Won,
        ("cancelled", None) => InfractionDecision::Cancelled,
        ("won" | "cancelled", Some(_)) => return Err(t.amount_unused),
        _ => return Err(t.outcome_wrong),
    };
    let note = parse_note(form.get("note")).map_err(|_| t.note_wrong)?;
    Ok(PendingAction::Decide { decision: ReviewDecision::Infraction { id: infraction.id, seen, decision }, note })
}

/// Returns the infraction with the id in a path, if the user is an operator.
async fn find(context: &PageContext, id: &str) -> Result<Infraction, Failure> {
    context.operator()?;
    let id = InfractionId::parse(id).map_err(|_| Failure::NotFound)?;
    list::find_for_operator(context.ports(), id).await?.ok_or(Failure::NotFound)
}

/// Returns the page. After a refused form, `error` is the text about the mistake, and the page shows the sent values
/// again.
async fn page(
    context: &PageContext,
    infraction: Infraction,
    is_changed: bool,
    (error, lost_amount, note): (Option<&str>, &str, &str),
) -> Result<HttpResponse, Failure> {
    let blocked = held(context.ports(), &infraction).await?.map(|held| brl(held, context.language));
    let (page, (t, i, o), infraction) = (context.layout(), texts(context), view(context, infraction));
    let status = if error.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let shown = InfractionPage { page, t, i, o, error, is_changed, infraction, blocked, lost_amount, note };
    Ok(context.page(status, &shown))
}

const fn texts(context: &PageContext) -> (&'static ReviewTexts, &'static InfractionTexts, &'static OperatorTexts) {
    let language = context.language;
    (ReviewTexts::of(language), InfractionTexts::of(language), OperatorTexts::of(language))
}

fn view(context: &PageContext, infraction: Infraction) -> View {
    let (language, (t, i, _)) = (context.language, texts(context));
    let status = infraction.state.status();
    View {
        id: infraction.id.to_string(),
        version: infraction.version,
        account: infraction.account.to_string(),
        status: status.as_str(),
        status_name: i.status_of(status),
        needs_review: infraction.needs_review(),
        review_reason: infraction.review.map_or("–", |review| t.reason_of(review.reason)),
        since: infraction.review.map(|review| When::of(review.since, language)),
        amount: brl(infraction.amount, language),
        limit: brl(infraction.limit, language),
        deadline: infraction.deadline_at.map(|at| When::of(at, language)),
        charge: infraction.charge.to_string(),
        end_to_end_id: infraction.end_to_end_id.to_string(),
        acquirer: infraction.acquirer.to_string(),
        situation: i.situation_of(infraction.situation),
        defense: infraction.defense.and_then(|defense| defense.text).map(cais_domain::text::Text::into_string),
        upstream_id: infraction.upstream_id,
        reported: infraction.reason,
    }
}
