//! Received webhooks: verified, counted, and timed from their event.

use std::collections::HashSet;

use anyhow::{Context as _, Result};
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP, Webhook};

use super::wire::Hook;

/// The text before an event's instant in a webhook's body.
const INSTANT: &[u8] = br#""timestamp":""#;

/// The counts of received webhooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The number of verified webhooks. A repeat at the same endpoint does not count.
    pub distinct: u64,
    /// The number of verified webhooks, with all repeats.
    pub arrived: u64,
    /// The number of requests without an answer, because their endpoint hangs.
    pub hung: u64,
    /// The number of requests that are not valid webhooks.
    pub wrong: u64,
    /// The reason why the first of those requests is not a valid webhook.
    pub first_wrong: Option<String>,
    /// The instant of the first verified webhook, in microseconds since 1970.
    pub first_at_us: i64,
    /// The instant of the last verified webhook, in microseconds since 1970.
    pub last_at_us: i64,
}

/// The counts and times of all webhooks since the last `take`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedWebhooks {
    /// The counts.
    pub progress: Progress,
    /// For each endpoint: the time from each event's instant to its first arrival, in microseconds.
    pub waits_us: Vec<Vec<u32>>,
}

/// The endpoints of one process, and the webhooks that they received.
pub struct Log {
    endpoints: Vec<Endpoint>,
    hanging: usize,
    progress: Progress,
}

#[derive(Default)]
struct Endpoint {
    webhook: Option<Webhook>,
    seen: HashSet<Box<[u8]>>,
    waits_us: Vec<u32>,
}

impl Log {
    /// Creates endpoints without secrets, which verify no webhook yet.
    #[must_use]
    pub fn new(endpoints: usize) -> Self {
        Self {
            endpoints: (0..endpoints).map(|_| Endpoint::default()).collect(),
            hanging: 0,
            progress: Progress::default(),
        }
    }

    /// Sets the endpoints' secrets, in order.
    ///
    /// # Errors
    /// If a text is not a signing secret.
    pub fn set_secrets(&mut self, secrets: &[String]) -> Result<()> {
        for (endpoint, secret) in self.endpoints.iter_mut().zip(secrets) {
            endpoint.webhook = Some(Webhook::new(secret)?);
        }
        Ok(())
    }

    /// Makes the first `endpoints` endpoints hang: they answer no request.
    pub const fn hang(&mut self, endpoints: usize) {
        self.hanging = endpoints;
    }

    /// Returns the counts.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Returns the counts and times of the webhooks, and clears them.
    pub fn take(&mut self) -> ReceivedWebhooks {
        let waits_us = self.endpoints.iter_mut().map(|endpoint| {
            endpoint.seen.clear();
            std::mem::take(&mut endpoint.waits_us)
        });
        ReceivedWebhooks { waits_us: waits_us.collect(), progress: std::mem::take(&mut self.progress) }
    }

    /// Counts the request as hung if its endpoint hangs. Returns whether the endpoint hangs.
    pub const fn count_if_hanging(&mut self, place: usize) -> bool {
        if place < self.hanging {
            self.progress.hung = self.progress.hung.saturating_add(1);
        }
        place < self.hanging
    }

    /// Verifies and records a webhook.
    ///
    /// # Errors
    /// If the endpoint has no secret yet, or the webhook is not authentic, is too old, or contains no instant.
    pub fn receive(&mut self, place: usize, hook: &Hook<'_>, at_us: i64) -> Result<()> {
        let endpoint = self.endpoints.get_mut(place).context("no such endpoint")?;
        let webhook = endpoint.webhook.as_ref().context("the webhook arrived before its secret")?;
        webhook.verify(hook.body, &headers(hook)?)?;
        let progress = &mut self.progress;
        if progress.arrived == 0 {
            progress.first_at_us = at_us;
        }
        progress.last_at_us = at_us;
        progress.arrived = progress.arrived.saturating_add(1);
        if endpoint.seen.insert(hook.id.into()) {
            progress.distinct = progress.distinct.saturating_add(1);
            let wait_us = at_us.saturating_sub(happened_at_us(hook.body)?);
            endpoint.waits_us.push(u32::try_from(wait_us.max(0)).unwrap_or(u32::MAX));
        }
        Ok(())
    }

    /// Records an invalid request.
    pub fn refuse(&mut self, why: &anyhow::Error) {
        self.progress.wrong = self.progress.wrong.saturating_add(1);
        self.progress.first_wrong.get_or_insert_with(|| format!("{why:#}"));
    }
}

fn headers(hook: &Hook<'_>) -> Result<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(HEADER_WEBHOOK_ID, HeaderValue::from_bytes(hook.id)?);
    headers.insert(HEADER_WEBHOOK_TIMESTAMP, HeaderValue::from_bytes(hook.timestamp)?);
    headers.insert(HEADER_WEBHOOK_SIGNATURE, HeaderValue::from_bytes(hook.signature)?);
    Ok(headers)
}

/// Returns the instant in the body. The service truncates the instant to milliseconds, so a measured wait is up to one
/// millisecond too long and never too short.
fn happened_at_us(body: &[u8]) -> Result<i64> {
    let at = body.windows(INSTANT.len()).position(|window| window == INSTANT).context("the body has no time")?;
    let rest = body.get(at.saturating_add(INSTANT.len())..).unwrap_or_default();
    let text = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
    let instant: Timestamp = str::from_utf8(text)?.parse()?;
    Ok(instant.as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const BODY: &str = r#"{"id":"evt_1","timestamp":"1970-01-01T00:00:01.000Z"}"#;

    fn signed(secret: &str, at_s: i64) -> (String, String) {
        let signature = Webhook::new(secret).and_then(|webhook| webhook.sign("evt_1", at_s, BODY.as_bytes()));
        (at_s.to_string(), signature.unwrap_or_default())
    }

    fn receive(log: &mut Log, (timestamp, signature): &(String, String)) -> bool {
        let (timestamp, signature) = (timestamp.as_bytes(), signature.as_bytes());
        let hook = Hook { id: b"evt_1", timestamp, signature, body: BODY.as_bytes(), length: 0 };
        log.receive(0, &hook, 3_000_000).is_ok()
    }

    #[test]
    fn repeated_webhook_counts_once() {
        let mut log = Log::new(1);
        let good = signed(SECRET, clock::now().as_second());
        assert!(!receive(&mut log, &good), "without a secret no webhook is accepted");
        assert!(log.set_secrets(&[SECRET.to_owned()]).is_ok());
        assert!(receive(&mut log, &good) && receive(&mut log, &good));
        let progress =
            Progress { distinct: 1, arrived: 2, first_at_us: 3_000_000, last_at_us: 3_000_000, ..Progress::default() };
        assert_eq!(log.take(), ReceivedWebhooks { progress, waits_us: vec![vec![2_000_000]] });
        assert_eq!(log.take(), ReceivedWebhooks { progress: Progress::default(), waits_us: vec![vec![]] });
    }

    #[test]
    fn foreign_or_old_signature_is_refused() {
        let mut log = Log::new(1);
        assert!(log.set_secrets(&[SECRET.to_owned()]).is_ok());
        let now_s = clock::now().as_second();
        let other = SECRET.replace("whsec_A", "whsec_B");
        assert!(!receive(&mut log, &signed(&other, now_s)));
        assert!(!receive(&mut log, &signed(SECRET, now_s.saturating_sub(600))));
    }

    #[test]
    fn first_endpoints_hang() {
        let mut log = Log::new(2);
        log.hang(1);
        assert_eq!([log.count_if_hanging(0), log.count_if_hanging(1)], [true, false]);
        assert_eq!(log.progress().hung, 1);
    }
}
