//! Deliveries as the pages of an endpoint and of an event show them.

use cais_domain::event::EventType;
use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::DeliveryStatus;
use cais_ports::{AttemptError, DELIVERY_LEASE, Delivery, DeliveryAttempt};
use jiff::{SignedDuration, Timestamp};

use crate::failure::Failure;
use crate::format::When;
use crate::page_context::PageContext;
use crate::texts::webhooks::WebhookTexts;

/// A page refreshes itself if the next attempt of a delivery is due within this time. While an attempt is in flight,
/// the next attempt is due at the end of the lease, so the page also refreshes itself during an attempt.
const REFRESH_AHEAD: SignedDuration = DELIVERY_LEASE;

/// A delivery.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) endpoint: String,
    /// The event's id; `None` for a test delivery, whose event has no page.
    pub(crate) event: Option<String>,
    pub(crate) kind: &'static str,
    pub(crate) status: &'static str,
    pub(crate) is_failed: bool,
    pub(crate) created: When,
    pub(crate) next: Option<When>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) can_resend: bool,
    /// `true` if an attempt is in flight, or is due within `REFRESH_AHEAD`.
    pub(crate) is_fresh: bool,
}

/// An attempt.
pub(crate) struct Attempt {
    pub(crate) at: When,
    pub(crate) status_code: Option<u16>,
    pub(crate) duration_ms: u32,
    pub(crate) result: String,
    pub(crate) body: Option<String>,
}

/// Returns the row of a delivery.
pub(crate) fn row(context: &PageContext, delivery: &Delivery) -> Row {
    let t = WebhookTexts::of(context.language);
    let (when, now) = (|at: Timestamp| When::of(at, context.language), context.ports().clock.now());
    let soon = now.saturating_add(REFRESH_AHEAD).unwrap_or(Timestamp::MAX);
    Row {
        id: delivery.id.to_string(),
        endpoint: delivery.endpoint.to_string(),
        event: Some(delivery.event.to_string()).filter(|_| delivery.kind != EventType::WebhookTest),
        kind: delivery.kind.as_str(),
        status: status(delivery.status, t),
        is_failed: delivery.status == DeliveryStatus::Failed,
        created: when(delivery.created_at),
        next: delivery.next_attempt_at.map(when),
        attempts: delivery.attempts.iter().map(|attempt| attempt_row(context, attempt, t)).collect(),
        can_resend: delivery.status != DeliveryStatus::Cancelled,
        is_fresh: delivery.next_attempt_at.is_some_and(|at| at <= soon),
    }
}

/// Returns the body that the endpoint receives; `None` if the event is not stored any more.
pub(crate) async fn payload(
    context: &PageContext,
    account: AccountId,
    delivery: &Delivery,
) -> Result<Option<String>, Failure> {
    let representation = &context.ports().representation;
    let body = if delivery.kind == EventType::WebhookTest {
        Some(representation.endpoint_test(delivery.event, delivery.endpoint, delivery.created_at))
    } else {
        let event = context.ports().queries.find_event(account, delivery.event).await?;
        event.map(|event| representation.event(&event))
    };
    Ok(body.map(|body| String::from_utf8_lossy(&body).into_owned()))
}

const fn status(status: DeliveryStatus, t: &'static WebhookTexts) -> &'static str {
    match status {
        DeliveryStatus::Pending => t.pending,
        DeliveryStatus::Succeeded => t.succeeded,
        DeliveryStatus::Failed => t.failed,
        DeliveryStatus::Cancelled => t.cancelled,
    }
}

fn attempt_row(context: &PageContext, attempt: &DeliveryAttempt, t: &'static WebhookTexts) -> Attempt {
    Attempt {
        at: When::of(attempt.at, context.language),
        status_code: attempt.status_code,
        duration_ms: attempt.duration_ms,
        result: attempt.error.as_deref().map_or_else(|| t.accepted.to_owned(), |error| reason(error, t)),
        body: attempt.response_body.clone().filter(|body| !body.is_empty()),
    }
}

/// Returns the text for the stored error of an attempt. An unknown error, from another version of the service, is
/// returned as stored.
pub(crate) fn reason(stored: &str, t: &'static WebhookTexts) -> String {
    let known = [
        (AttemptError::AddressNotAllowed, t.address_not_allowed),
        (AttemptError::NameNotResolved, t.name_not_resolved),
        (AttemptError::ConnectionFailed, t.connection_failed),
        (AttemptError::ConnectionLost, t.connection_lost),
        (AttemptError::TlsFailed, t.tls_failed),
        (AttemptError::TimedOut, t.timed_out),
        (AttemptError::Redirected, t.redirected),
        (AttemptError::Refused, t.refused),
        (AttemptError::Unsigned, t.unsigned),
    ];
    let found = known.into_iter().find(|(error, _)| error.as_str() == stored);
    found.map_or_else(|| stored.to_owned(), |(_, text)| text.to_owned())
}
