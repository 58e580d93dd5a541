//! Shows an infraction: the report, the block, the defense and the decision.

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use askama::Template;
use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Infraction, InfractionState, InfractionStatus};
use cais_domain::money::Money;
use cais_use_cases::infractions::list as infractions;
use jiff::Timestamp;

use super::list::held;
use crate::failure::Failure;
use crate::format::{When, brl};
use crate::layout::Layout;
use crate::page_context::PageContext;
use crate::texts::Language;
use crate::texts::infractions::InfractionTexts;

#[derive(Template)]
#[template(path = "infractions/show.html")]
struct InfractionPage<'a> {
    page: Layout,
    t: &'static InfractionTexts,
    error: Option<String>,
    infraction: View,
    text: &'a str,
    url: &'a str,
}

struct View {
    id: String,
    status: &'static str,
    status_name: &'static str,
    amount: String,
    blocked: Option<String>,
    situation: &'static str,
    reason: Option<String>,
    charge: String,
    external_id: Option<String>,
    end_to_end_id: String,
    deadline: Option<When>,
    counts_down: bool,
    needs_review: bool,
    may_defend: bool,
    defense: Option<Submitted>,
    decision: Option<String>,
    timeline: Vec<(When, &'static str)>,
    raw: String,
}

struct Submitted {
    text: Option<String>,
    /// The URL is shown as text and not as a link, because it leads to another site.
    evidence: Option<String>,
    is_confirmed: bool,
}

/// The content of a refused form, and the reason of the refusal.
pub(super) struct Attempt<'a> {
    pub(super) error: String,
    pub(super) text: &'a str,
    pub(super) url: &'a str,
}

/// Shows the infraction.
pub(crate) async fn show(context: PageContext, id: web::Path<String>) -> Result<HttpResponse, Failure> {
    page(&context, parse(&id)?, None).await
}

/// Returns the infraction's id in a path.
pub(super) fn parse(id: &str) -> Result<InfractionId, Failure> {
    InfractionId::parse(id).map_err(|_| Failure::NotFound)
}

/// Returns the page. If the form was refused, the page shows the form again with the sent content.
pub(super) async fn page(
    context: &PageContext,
    id: InfractionId,
    attempt: Option<Attempt<'_>>,
) -> Result<HttpResponse, Failure> {
    let (_, account) = context.merchant()?;
    let ports = &context.dashboard.logins.ports;
    let infraction = infractions::find(ports, account, id).await?.ok_or(Failure::NotFound)?;
    let held = held(ports, &infraction).await?;
    let raw = String::from_utf8_lossy(&ports.representation.infraction(&infraction)).into_owned();
    let infraction = view(infraction, held, raw, ports.clock.now(), context.language);
    let status = if attempt.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let (error, text, url) = match attempt {
        Some(Attempt { error, text, url }) => (Some(error), text, url),
        None => (None, "", ""),
    };
    let (page, t) = (context.layout(), InfractionTexts::of(context.language));
    Ok(context.page(status, &InfractionPage { page, t, error, infraction, text, url }))
}

fn view(infraction: Infraction, held: Option<Money>, raw: String, now: Timestamp, language: Language) -> View {
    let (t, status) = (InfractionTexts::of(language), infraction.state.status());
    let is_in_time = infraction.deadline_at.is_none_or(|deadline| now <= deadline);
    let defense = infraction.defense.as_ref().map(|defense| Submitted {
        text: defense.text.as_ref().map(|text| text.as_str().to_owned()),
        evidence: defense.evidence_url.as_ref().map(|url| url.as_str().to_owned()),
        is_confirmed: defense.submitted_at.is_some(),
    });
    View {
        id: infraction.id.to_string(),
        status: status.as_str(),
        status_name: t.status_of(status),
        amount: brl(infraction.amount, language),
        blocked: held.map(|held| brl(held, language)),
        situation: t.situation_of(infraction.situation),
        charge: infraction.charge.to_string(),
        external_id: infraction.external_id.as_ref().map(ToString::to_string),
        end_to_end_id: infraction.end_to_end_id.to_string(),
        deadline: infraction.deadline_at.map(|at| When::of(at, language)),
        counts_down: status == InfractionStatus::Open && infraction.deadline_at.is_some_and(|at| at > now),
        needs_review: infraction.needs_review(),
        may_defend: status == InfractionStatus::Open && defense.is_none() && is_in_time,
        decision: decision(&infraction.state, language),
        timeline: timeline(&infraction, language),
        reason: infraction.reason,
        defense,
        raw,
    }
}

fn decision(state: &InfractionState, language: Language) -> Option<String> {
    let t = InfractionTexts::of(language);
    match state {
        InfractionState::Open | InfractionState::UnderReview { .. } => None,
        InfractionState::Won { .. } => Some(t.decision_won.to_owned()),
        InfractionState::Lost { returned, .. } => Some(format!("{} {}.", t.decision_lost, brl(*returned, language))),
        InfractionState::Cancelled { .. } => Some(t.decision_cancelled.to_owned()),
    }
}

/// Returns the known instants of the infraction, each with its text, the earliest first.
fn timeline(infraction: &Infraction, language: Language) -> Vec<(When, &'static str)> {
    let (t, defense) = (InfractionTexts::of(language), infraction.defense.as_ref());
    let known = [
        (Some(infraction.opened_at), t.event_opened),
        (Some(infraction.created_at), t.event_stored),
        (defense.filter(|defense| defense.text.is_some()).map(|defense| defense.sent_at), t.event_sent),
        (defense.and_then(|defense| defense.submitted_at), t.event_received),
        (infraction.state.resolved_at(), t.event_resolved),
    ];
    let mut known: Vec<_> = known.into_iter().filter_map(|(at, text)| at.map(|at| (at, text))).collect();
    known.sort_by_key(|(at, _)| *at);
    known.into_iter().map(|(at, text)| (When::of(at, language), text)).collect()
}
