//! Receivers of webhooks that store each webhook and respond with a configured status.

use std::sync::Mutex;

use async_trait::async_trait;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::{AttemptError, Outgoing, Sent, UrlRefusal, WebhookSender};
use cais_use_cases::webhooks::dispatch::{self, DispatchLimits, Signal};
use futures_util::{StreamExt as _, stream};

use super::bed::TestBed;

/// A receiver for the webhooks of every URL.
#[derive(Default)]
pub struct Receivers {
    /// The sent webhooks: URL and body.
    pub sent: Mutex<Vec<(String, Vec<u8>)>>,
    /// The status of responses; 200 by default.
    pub status: Mutex<Option<u16>>,
    /// `true` rejects every URL, also those that were permitted before.
    pub are_closed: Mutex<bool>,
}

impl Receivers {
    fn judge(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        let text = url.as_str();
        if !text.starts_with("https://") {
            return Err(UrlRefusal::Scheme);
        }
        let refused = text.contains("internal") || *self.are_closed.lock().unwrap();
        if refused { Err(UrlRefusal::NotPublic) } else { Ok(()) }
    }
}

#[async_trait]
impl WebhookSender for Receivers {
    async fn vet(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        self.judge(url)
    }

    fn permits(&self, url: &WebhookUrl) -> Result<(), UrlRefusal> {
        self.judge(url)
    }

    async fn send<'a>(&self, outgoing: Outgoing<'a>) -> Sent {
        self.sent.lock().unwrap().push((outgoing.url.to_string(), outgoing.body.to_vec()));
        let status = self.status.lock().unwrap().unwrap_or(200);
        let error = (!(200..300).contains(&status)).then_some(AttemptError::Refused);
        let response_body = Some("so be it".to_owned());
        Sent { status_code: Some(status), error, retry_after: None, response_body, duration_ms: 3 }
    }
}

/// Delivers all due webhooks.
pub async fn deliver(bed: &TestBed) {
    let queue = &bed.state.ports.deliveries;
    let due = queue.due_queues(bed.state.ports.clock.now(), None, 100).await.unwrap().backlog;
    let before = bed.receivers.sent.lock().unwrap().len();
    let wanted = before + usize::try_from(due).unwrap();
    // The dispatcher is stopped after all due deliveries are sent.
    let receivers = bed.receivers.clone();
    let stop = stream::once(async move {
        while receivers.sent.lock().unwrap().len() < wanted {
            tokio::task::yield_now().await;
        }
        Signal::Stop
    });
    let signals = stream::iter([Signal::Tick]).chain(stop).boxed();
    dispatch::run(bed.state.ports.clone(), DispatchLimits::default(), signals).await;
}
