//! The timeline of a charge: its states, its events, and the attempts to deliver the events.

use std::collections::BTreeMap;

use cais_domain::charge::{Charge, ChargeState};
use cais_domain::ids::EndpointId;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_domain::refund::{Refund, RefundState};
use cais_ports::{Delivery, DeliveryAttempt, StoredEvent};
use cais_use_cases::Ports;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::format::{When, brl, capitalized};
use crate::pages::webhooks::deliveries::reason;
use crate::texts::Language;
use crate::texts::charges::ChargesTexts;
use crate::texts::webhooks::WebhookTexts;

/// The most deliveries of an event that are shown. An event has at most one delivery per endpoint, and an account has
/// at most 20 endpoints at a time. A later resend can add a delivery to an endpoint that was created later.
const MAX_DELIVERIES: usize = 50;
/// The most attempts of a delivery that are shown, the newest ones.
const MAX_ATTEMPTS: usize = 10;

/// A line of the timeline.
pub(super) struct Line {
    at: Timestamp,
    pub(super) when: When,
    pub(super) text: String,
    pub(super) detail: String,
    /// The path of the event's page; `None` for all other lines.
    pub(super) link: Option<String>,
    pub(super) tone: &'static str,
}

/// Returns the lines in the order of time.
pub(super) async fn lines(
    ports: &Ports,
    charge: &Charge,
    (events, refunds): (&[StoredEvent], &[Refund]),
    (t, language): (&'static ChargesTexts, Language),
) -> Result<Vec<Line>, Failure> {
    let mut lines = Lines { t, language, rows: Vec::new() };
    lines.states(charge);
    for refund in refunds {
        lines.refund(refund);
    }
    let mut urls = BTreeMap::new();
    for event in events {
        lines.event(event);
        let deliveries = ports.queries.list_deliveries_of_event(charge.account, event.id).await?;
        for delivery in deliveries.iter().take(MAX_DELIVERIES) {
            let url = url_of(ports, charge, delivery.endpoint, &mut urls).await?;
            lines.delivery(delivery, &url);
        }
    }
    // The sort is stable: at the same instant, a state precedes its event, and an event precedes its deliveries.
    lines.rows.sort_by_key(|line| line.at);
    Ok(lines.rows)
}

async fn url_of(
    ports: &Ports,
    charge: &Charge,
    id: EndpointId,
    known: &mut BTreeMap<EndpointId, String>,
) -> Result<String, Failure> {
    if let Some(url) = known.get(&id) {
        return Ok(url.clone());
    }
    let endpoint = ports.queries.find_endpoint(charge.account, id).await?;
    let url = endpoint.map_or_else(|| id.to_string(), |endpoint| endpoint.url.to_string());
    known.insert(id, url.clone());
    Ok(url)
}

struct Lines {
    t: &'static ChargesTexts,
    language: Language,
    rows: Vec<Line>,
}

impl Lines {
    fn push(&mut self, at: Timestamp, text: String, detail: String, tone: &'static str) {
        self.rows.push(Line { at, when: When::of(at, self.language), text, detail, link: None, tone });
    }

    fn event(&mut self, event: &StoredEvent) {
        let (at, when) = (event.created_at, When::of(event.created_at, self.language));
        let text = format!("{} {}", self.t.event, event.kind.as_str());
        let link = Some(format!("/events/{}", event.id));
        self.rows.push(Line { at, when, text, detail: event.id.to_string(), link, tone: "" });
    }

    fn states(&mut self, charge: &Charge) {
        let t = self.t;
        let acquirer = format!("{} {}", t.acquirer, charge.state.acquirer());
        self.push(charge.created_at, t.created.to_owned(), acquirer, "");
        if let Some(settlement) = charge.state.settlement() {
            self.push(settlement.paid_at, capitalized(t.paid), settlement.end_to_end_id.to_string(), "good");
        }
        let end = match &charge.state {
            ChargeState::Expired { at, .. } => Some((*at, t.expired)),
            ChargeState::Cancelled { at, .. } => Some((*at, t.cancelled)),
            ChargeState::Refunded { at, .. } => Some((*at, t.refunded)),
            ChargeState::Creating { .. }
            | ChargeState::Abandoned { .. }
            | ChargeState::Pending(_)
            | ChargeState::Paid(..) => None,
        };
        if let Some((at, text)) = end {
            self.push(at, capitalized(text), String::new(), "over");
        }
    }

    fn refund(&mut self, refund: &Refund) {
        let (t, amount) = (self.t, brl(refund.amount, self.language));
        self.push(refund.created_at, format!("{}: {amount}", t.refund_requested), refund.end_to_end_id.to_string(), "");
        let end = match &refund.state {
            RefundState::Completed { at, .. } => Some((*at, t.refund_completed, "over")),
            RefundState::Failed { at, .. } => Some((*at, t.refund_failed, "bad")),
            RefundState::Pending | RefundState::Abandoned { .. } | RefundState::Processing { .. } => None,
        };
        if let Some((at, status, tone)) = end {
            let text = format!("{} {status}: {amount}", t.refund_line);
            self.push(at, text, refund.end_to_end_id.to_string(), tone);
        }
    }

    fn delivery(&mut self, delivery: &Delivery, url: &str) {
        let skipped = delivery.attempts.len().saturating_sub(MAX_ATTEMPTS);
        for attempt in delivery.attempts.iter().skip(skipped) {
            self.attempt(delivery, attempt, url);
        }
        let is_open = delivery.status == DeliveryStatus::Pending;
        if let Some(next) = delivery.next_attempt_at.filter(|_| is_open) {
            let t = self.t;
            let text = format!("{} → {}: {}", delivery.kind.as_str(), t.delivery_pending, t.next_attempt);
            self.push(next, text, url.to_owned(), "waits");
        }
    }

    fn attempt(&mut self, delivery: &Delivery, attempt: &DeliveryAttempt, url: &str) {
        let status = attempt.status_code.map(|status| status.to_string());
        let error = attempt.error.as_deref().map(|error| reason(error, WebhookTexts::of(self.language)));
        let result = status.into_iter().chain(error).collect::<Vec<_>>().join(", ");
        let text = format!("{} → {result}, {} {} ms", delivery.kind.as_str(), self.t.took, attempt.duration_ms);
        self.push(attempt.at, text, url.to_owned(), if attempt.error.is_none() { "good" } else { "bad" });
    }
}
