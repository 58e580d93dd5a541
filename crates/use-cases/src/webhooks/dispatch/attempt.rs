//! One call to a receiver, and what follows from it: when it is tried again, what it says of its endpoint, whether that is disabled.

use std::panic::AssertUnwindSafe;

use cais_domain::event::EventType;
use cais_domain::webhook::{DisabledReason, is_failing_for_good, next_attempt};
use cais_ports::{
    AttemptError, AttemptOutcome, ClaimedDelivery, DecryptError, DeliveryAttempt, DeliveryKey, FinishedAttempt, Health,
    Outgoing, Sent, SigningSecret, alerts,
};
use futures_util::FutureExt as _;
use jiff::Timestamp;

use crate::ports::Ports;

/// The answer of a receiver that is gone for good.
const GONE: u16 = 410;

/// How an attempt ended, as far as its endpoint is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The receiver took it.
    Succeeded,
    /// It did not.
    Failed,
}

/// A call that is over.
#[derive(Debug, Clone)]
pub(super) struct Called {
    /// What was to be delivered.
    pub claimed: ClaimedDelivery,
    /// When the call began.
    pub began_at: Timestamp,
    /// When it was over.
    pub ended_at: Timestamp,
    /// What came of it.
    pub sent: Sent,
}

/// What follows from a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// What is to be written down.
    pub finished: FinishedAttempt,
    /// Why the endpoint is to be disabled, if it is.
    pub disable: Option<DisabledReason>,
}

/// Signs and sends, once.
pub(super) async fn call(ports: &Ports, claimed: ClaimedDelivery) -> Called {
    let began_at = ports.clock.now();
    let sent = if let Ok(secrets) = secrets(ports, &claimed, began_at) {
        send(ports, &claimed, began_at, &secrets).await
    } else {
        let DeliveryKey { account, endpoint, .. } = claimed.key;
        tracing::error!(alert = alerts::ENDPOINT_SECRET_UNREADABLE, %endpoint, %account, "the secret of a webhook endpoint cannot be decrypted; its deliveries fail");
        nothing_sent(AttemptError::Unsigned)
    };
    Called { claimed, began_at, ended_at: ports.clock.now(), sent }
}

async fn send(ports: &Ports, claimed: &ClaimedDelivery, at: Timestamp, secrets: &[SigningSecret]) -> Sent {
    let outgoing = Outgoing { url: &claimed.endpoint.url, id: claimed.event, at, secrets, body: &claimed.body };
    // A bug that one receiver's answer brings to light must not end the deliveries to all the others.
    AssertUnwindSafe(ports.webhooks.send(outgoing)).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(alert = alerts::PANIC, delivery = %claimed.key.id, endpoint = %claimed.key.endpoint, "an attempt to deliver a webhook panicked");
        nothing_sent(AttemptError::ConnectionLost)
    })
}

/// What signs just now, opened.
fn secrets(ports: &Ports, claimed: &ClaimedDelivery, at: Timestamp) -> Result<Vec<SigningSecret>, DecryptError> {
    let owner = claimed.endpoint.id.to_string();
    claimed.endpoint.signing(at).into_iter().map(|sealed| ports.secret_cipher.decrypt(&owner, sealed)).collect()
}

const fn nothing_sent(error: AttemptError) -> Sent {
    Sent { status_code: None, error: Some(error), retry_after: None, response_body: None, duration_ms: 0 }
}

impl Called {
    /// How it ended.
    pub(super) const fn turn(&self) -> Turn {
        if self.sent.error.is_none() { Turn::Succeeded } else { Turn::Failed }
    }

    /// What follows from it; `last` is how the call to the same endpoint ended that was over last, if it was over while this one was claimed
    /// or under way: what the claim says of the endpoint may be older than that.
    pub(super) fn judge(self, last: Option<Turn>) -> Verdict {
        let turn = self.turn();
        let Self { claimed, began_at, ended_at, sent } = self;
        let failing_since = claimed.failing_since;
        // What this service cannot sign says nothing of its receiver.
        let is_ours = sent.error == Some(AttemptError::Unsigned);
        // Each is written where either source says that it is news: to write it twice changes nothing.
        let health = match turn {
            Turn::Failed if is_ours => Health::Unchanged,
            Turn::Succeeded if failing_since.is_some() || last == Some(Turn::Failed) => Health::Healthy,
            Turn::Failed if failing_since.is_none() || last == Some(Turn::Succeeded) => Health::Failing,
            Turn::Succeeded | Turn::Failed => Health::Unchanged,
        };
        let outcome = match turn {
            Turn::Succeeded => AttemptOutcome::Succeeded,
            // A merchant who tries an endpoint looks at the result; a test is no event that must arrive.
            Turn::Failed if claimed.kind == EventType::WebhookTest => AttemptOutcome::Failed,
            Turn::Failed => next_attempt(claimed.key.id, claimed.tries, ended_at, sent.retry_after)
                .map_or(AttemptOutcome::Failed, |due_at| AttemptOutcome::Retry { due_at }),
        };
        let failing = !is_ours && last != Some(Turn::Succeeded) && is_failing_for_good(failing_since, ended_at);
        let disable = match turn {
            Turn::Failed if sent.status_code == Some(GONE) => Some(DisabledReason::Gone),
            Turn::Failed if failing => Some(DisabledReason::Failing),
            Turn::Succeeded | Turn::Failed => None,
        };
        if turn == Turn::Failed {
            tracing::info!(
                delivery = %claimed.key.id, event = %claimed.event, endpoint = %claimed.key.endpoint,
                account = %claimed.key.account, tries = claimed.tries, status = sent.status_code,
                error = sent.error.map(AttemptError::as_str), "a webhook was not delivered"
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
        Verdict { finished, disable }
    }
}

#[cfg(test)]
mod tests;
