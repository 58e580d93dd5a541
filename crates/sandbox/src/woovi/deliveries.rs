//! Signs and sends Woovi's webhooks. The tester may order copies, wrong signatures and a pause. A delivery is attempted until the receiver
//! answers 2xx, at most `MAX_ATTEMPTS` times.

use std::{error::Error, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{Client, header};
use ring::hmac;
use tokio::sync::Notify;

use super::{
    events,
    settings::WebhookSignature,
    state::{WooviChange, delivery::Webhook},
};
use crate::{
    faults::{FaultMode, FaultTarget},
    outbox::{Outbox, Switches},
    psp::Psp,
};

/// The header of the RSA signature.
pub const SIGNATURE: &str = "x-webhook-signature";

/// The header of the deprecated HMAC signature.
pub const HMAC_SIGNATURE: &str = "x-openpix-signature";

/// The queue of Woovi's webhook deliveries. [`crate::outbox::deliver`] sends them.
pub struct Deliveries {
    /// The institution.
    pub psp: Arc<Psp>,
    /// The HTTP client.
    pub client: Client,
    /// The pause before the second attempt. The pause doubles with each further attempt. The real service begins with ten seconds.
    pub repeat_after: Duration,
}

impl Outbox for Deliveries {
    /// The number of attempts that Woovi documents.
    const MAX_ATTEMPTS: u32 = 8;

    fn numbers_from(&self, first: u64) -> Vec<u64> {
        self.psp.read().books().woovi().owed().range(first..).map(|(number, _)| *number).collect()
    }

    fn switches(&self) -> Switches {
        let settings = self.psp.woovi.settings();
        Switches { is_paused: settings.webhooks_paused, is_reversed: settings.webhooks_reversed }
    }

    fn wakeup(&self) -> &Notify {
        &self.psp.woovi.wakeup
    }

    fn repeat_after(&self, attempts: u32) -> Duration {
        self.repeat_after.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1)))
    }

    async fn attempt(&self, number: u64) -> bool {
        let Some((webhook, body)) = self.render(number) else { return false };
        let settings = self.psp.woovi.settings();
        let is_doubled = self.psp.faults.mode_of(FaultTarget::Woovi) == FaultMode::DoubleCallback;
        let copies = settings.webhook_copies.max(if is_doubled { 2 } else { 1 });
        let is_accepted = self.post(&webhook, &body, settings.webhook_signature, number).await;
        if is_accepted {
            for _ in 1..copies {
                // The outcome of a copy has no effect, because the receiver already accepted the delivery.
                self.post(&webhook, &body, settings.webhook_signature, number).await;
            }
        }
        is_accepted
    }

    fn end(&self, number: u64, delivered: bool) {
        let change = WooviChange::DeliveryEnded { number, delivered };
        if let Err(error) = self.psp.commit_woovi(&mut self.psp.write(), change) {
            let error: &dyn Error = &error;
            tracing::error!(
                number,
                error,
                "end of a webhook delivery could not be recorded; the delivery is sent again after a restart"
            );
        }
    }
}

impl Deliveries {
    /// Returns the webhook and the body of a waiting delivery; `None` if the webhook was removed, or the event's object does not exist.
    fn render(&self, number: u64) -> Option<(Webhook, String)> {
        let store = self.psp.read();
        let books = store.books();
        let delivery = books.woovi().owed().get(&number)?;
        let webhook = books.woovi().webhooks().iter().find(|webhook| webhook.id == delivery.webhook_id)?;
        let body = events::body(&self.psp, books, delivery, webhook)?;
        Some((webhook.clone(), body.to_string()))
    }

    async fn post(&self, webhook: &Webhook, body: &str, kind: WebhookSignature, number: u64) -> bool {
        let request = self.client.post(&*webhook.url).header(header::CONTENT_TYPE, "application/json");
        let mut request = request.body(body.to_owned());
        if let Some(authorization) = &webhook.authorization {
            request = request.header(header::AUTHORIZATION, &**authorization);
        }
        if let Some((signature, hmac)) = self.sign(body, kind) {
            request = request.header(SIGNATURE, signature).header(HMAC_SIGNATURE, hmac);
        }
        match request.send().await {
            Ok(answer) => {
                tracing::debug!(number, status = answer.status().as_u16(), "webhook delivery answered");
                answer.status().is_success()
            }
            Err(error) => {
                let error: &dyn Error = &error;
                tracing::debug!(number, error, "webhook delivery received no answer; the attempt failed");
                false
            }
        }
    }

    /// Returns the RSA signature and the HMAC of a body; `None` if the tester switched signatures off.
    fn sign(&self, body: &str, kind: WebhookSignature) -> Option<(String, String)> {
        let woovi = &self.psp.woovi;
        let of = |body: &str| {
            let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, woovi.keys.hmac_secret.as_bytes());
            let hmac = STANDARD.encode(hmac::sign(&key, body.as_bytes()));
            Some((woovi.webhook_key.sign(body.as_bytes())?, hmac))
        };
        match kind {
            WebhookSignature::Valid => of(body),
            WebhookSignature::Wrong => of("another body"),
            WebhookSignature::Missing => None,
            WebhookSignature::Malformed => Some(("not a signature".to_owned(), "not a signature".to_owned())),
        }
    }
}
