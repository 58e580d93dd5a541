//! A call to a receiver and its consequences: the next attempt, the health of the endpoint, and the disabling of the
//! endpoint.

use std::panic::AssertUnwindSafe;

use cais_domain::event::EventType;
use cais_domain::merchant::webhook::{DisabledReason, is_failing_for_good, next_attempt};
use cais_ports::{
    AttemptError, AttemptOutcome, ClaimedDelivery, DecryptError, DeliveredEvent, DeliveryAttempt, DeliveryKey,
    FinishedAttempt, Health, Outgoing, Sent, SigningSecret, alerts,
};
use futures_util::FutureExt as _;
use jiff::Timestamp;

use crate::ports::Ports;

/// The HTTP status of an endpoint that no longer exists.
const GONE: u16 = 410;

/// The status of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttemptStatus {
    /// The receiver accepted the event.
    Succeeded,
    /// The receiver did not accept the event.
    Failed,
}

/// An attempt that has ended.
#[derive(Debug, Clone)]
pub(super) struct AttemptResult {
    /// The delivery.
    pub claimed: ClaimedDelivery,
    /// The start of the call.
    pub began_at: Timestamp,
    /// The end of the call.
    pub ended_at: Timestamp,
    /// The response of the receiver, or the error.
    pub sent: Sent,
}

/// The consequences of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Consequences {
    /// The outcome for the store.
    pub finished: FinishedAttempt,
    /// The reason to disable the endpoint, if there is one.
    pub disable: Option<DisabledReason>,
}

/// Renders the event, signs it and sends it once.
pub(super) async fn call(ports: &Ports, claimed: ClaimedDelivery) -> AttemptResult {
    let began_at = ports.clock.now();
    let sent = if let Ok(secrets) = secrets(ports, &claimed, began_at) {
        send(ports, &claimed, began_at, &secrets).await
    } else {
        let DeliveryKey { account, endpoint, .. } = claimed.key;
        tracing::error!(alert = alerts::ENDPOINT_SECRET_UNREADABLE, %endpoint, %account, "secret of a webhook endpoint cannot be decrypted; its deliveries fail");
        nothing_sent(AttemptError::Unsigned)
    };
    AttemptResult { claimed, began_at, ended_at: ports.clock.now(), sent }
}

async fn send(ports: &Ports, claimed: &ClaimedDelivery, at: Timestamp, secrets: &[SigningSecret]) -> Sent {
    let sent = async {
        let body = match &claimed.event {
            DeliveredEvent::Stored(event) => ports.representation.event(event),
            DeliveredEvent::Test { id, at } => ports.representation.endpoint_test(*id, claimed.endpoint.id, *at),
        };
        let outgoing = Outgoing { url: &claimed.endpoint.url, id: claimed.event.id(), at, secrets, body: &body };
        ports.webhooks.send(outgoing).await
    };
    // A panic on one receiver's answer must not end the deliveries to the others.
    AssertUnwindSafe(sent).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(alert = alerts::PANIC, delivery = %claimed.key.id, endpoint = %claimed.key.endpoint, "attempt to deliver a webhook panicked; the attempt counts as failed");
        nothing_sent(AttemptError::ConnectionLost)
    })
}

/// Returns the decrypted secrets with which an event is signed at this instant.
fn secrets(ports: &Ports, claimed: &ClaimedDelivery, at: Timestamp) -> Result<Vec<SigningSecret>, DecryptError> {
    let owner = claimed.endpoint.id.to_string();
    claimed.endpoint.signing(at).into_iter().map(|sealed| ports.secret_cipher.decrypt(&owner, sealed)).collect()
}

const fn nothing_sent(error: AttemptError) -> Sent {
    Sent { status_code: None, error: Some(error), retry_after: None, response_body: None, duration_ms: 0 }
}

impl AttemptResult {
    /// Returns the status of the attempt.
    pub(super) const fn status(&self) -> AttemptStatus {
        if self.sent.error.is_none() { AttemptStatus::Succeeded } else { AttemptStatus::Failed }
    }

    /// Returns the consequences of the attempt. `last` is the status of the previous attempt at the endpoint. `None`
    /// means that no previous attempt is recorded. `failing_since` of the claim can be newer or older than `last`, so
    /// the attempt is compared with both.
    pub(super) fn consequences(self, last: Option<AttemptStatus>) -> Consequences {
        let status = self.status();
        let Self { claimed, began_at, ended_at, sent } = self;
        let failing_since = claimed.failing_since;
        // If this service cannot sign the event, the failure is not the receiver's.
        let is_ours = sent.error == Some(AttemptError::Unsigned);
        // A change of health is written if the claim or `last` shows another health. A second write of the same health
        // is harmless.
        let health = match status {
            AttemptStatus::Failed if is_ours => Health::Unchanged,
            AttemptStatus::Succeeded if failing_since.is_some() || last == Some(AttemptStatus::Failed) => {
                Health::Healthy
            }
            AttemptStatus::Failed if failing_since.is_none() || last == Some(AttemptStatus::Succeeded) => {
                Health::Failing
            }
            AttemptStatus::Succeeded | AttemptStatus::Failed => Health::Unchanged,
        };
        let outcome = match status {
            AttemptStatus::Succeeded => AttemptOutcome::Succeeded,
            // A test delivery has one attempt, because the merchant sees the result and can send another test.
            AttemptStatus::Failed if claimed.event.kind() == EventType::WebhookTest => AttemptOutcome::Failed,
            AttemptStatus::Failed => next_attempt(claimed.key.id, claimed.tries, ended_at, sent.retry_after)
                .map_or(AttemptOutcome::Failed, |due_at| AttemptOutcome::Retry { due_at }),
        };
        let failing =
            !is_ours && last != Some(AttemptStatus::Succeeded) && is_failing_for_good(failing_since, ended_at);
        let disable = match status {
            AttemptStatus::Failed if sent.status_code == Some(GONE) => Some(DisabledReason::Gone),
            AttemptStatus::Failed if failing => Some(DisabledReason::Failing),
            AttemptStatus::Succeeded | AttemptStatus::Failed => None,
        };
        if status == AttemptStatus::Failed {
            tracing::info!(
                delivery = %claimed.key.id, event = %claimed.event.id(), endpoint = %claimed.key.endpoint,
                account = %claimed.key.account, tries = claimed.tries, status = sent.status_code,
                error = sent.error.map(AttemptError::as_str), "attempt to deliver a webhook failed"
            );
        }
        let attempt = DeliveryAttempt {
            at: began_at,
            status_code: sent.status_code,
            duration_ms: sent.duration_ms,
            error: sent.error.map(|error| error.as_str().to_owned()),
            response_body: sent.response_body,
        };
        let finished = FinishedAttempt {
            key: claimed.key,
            fence: claimed.fence,
            epoch: claimed.endpoint.epoch,
            tries: claimed.tries,
            attempt,
            outcome,
            health,
        };
        Consequences { finished, disable }
    }
}

#[cfg(test)]
mod tests;
