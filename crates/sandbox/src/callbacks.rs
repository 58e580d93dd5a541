//! Tells webhooks what became of Pix that arrived or were sent, of their returns, and of infractions, again and again until
//! a 2xx.

use std::{cmp::Reverse, collections::BinaryHeap, error::Error, sync::Arc, time::Duration};

use reqwest::{Client, StatusCode, header, redirect};
use serde::Serialize;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::{
    faults::FaultMode,
    gn::{
        infraction_views::{self, InfractionNotice},
        views::{self as sent_views, SentNotice},
    },
    pix::views::{self, PixView},
    psp::Psp,
    state::change::Change,
};

/// Callbacks under way at once: a receiver that needs 20 ms for each still receives 3,000 per second.
const MAX_IN_FLIGHT: usize = 64;

/// Attempts before a callback is given up; with the default base the last is about eight minutes after the first.
const MAX_ATTEMPTS: u32 = 10;

/// How long a receiver may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// One attempt that is due at an instant: number of the callback, and how many attempts it has had.
type Due = Reverse<(Instant, u64, u32)>;

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Body<'a> {
    Pix([Told<'a>; 1]),
    Infracoes([InfractionNotice<'a>; 1]),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Told<'a> {
    Received(PixView<'a>),
    Sent(SentNotice<'a>),
}

/// A client that follows no redirects, uses no proxy, and gives up after [`TIMEOUT`].
///
/// # Errors
/// When the TLS library cannot be set up.
pub fn client() -> reqwest::Result<Client> {
    Client::builder().redirect(redirect::Policy::none()).no_proxy().timeout(TIMEOUT).build()
}

/// Sends what is owed until the server ends, beginning with what was owed when the process was killed. Never ends.
pub async fn deliver(psp: Arc<Psp>, client: Client, retry_base: Duration) {
    let mut queue: BinaryHeap<Due> = BinaryHeap::new();
    let mut in_flight = JoinSet::new();
    let mut next_number = 0;
    loop {
        for number in psp.read().books().owed_notifications().range(next_number..).map(|(number, _)| *number) {
            queue.push(Reverse((Instant::now(), number, 0)));
            next_number = number + 1;
        }
        let next = queue.peek().map(|Reverse((due, _, _))| *due).filter(|_| in_flight.len() < MAX_IN_FLIGHT);
        tokio::select! {
            () = psp.callback_bell.notified() => {}
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                if let Some(Reverse((_, number, attempts))) = queue.pop() {
                    let attempt = attempt(psp.clone(), client.clone(), number);
                    in_flight.spawn(async move { (number, attempts + 1, attempt.await) });
                }
            }
            Some(Ok((number, attempts, delivered))) = in_flight.join_next(), if !in_flight.is_empty() => {
                if delivered || attempts >= MAX_ATTEMPTS {
                    end(&psp, number, delivered);
                } else {
                    let wait = retry_base.saturating_mul(2_u32.saturating_pow(attempts - 1));
                    queue.push(Reverse((Instant::now() + wait, number, attempts)));
                }
            }
        }
    }
}

/// One attempt; `true` when the receiver answered 2xx.
async fn attempt(psp: Arc<Psp>, client: Client, number: u64) -> bool {
    let Some((url, body)) = render(&psp, number) else {
        return false;
    };
    let is_taken = post(&client, &url, body.clone(), number).await;
    if is_taken && psp.faults.current().mode == FaultMode::DoubleCallback {
        // What becomes of the second one is nobody's concern: the first was taken.
        post(&client, &url, body, number).await;
    }
    is_taken
}

async fn post(client: &Client, url: &str, body: Vec<u8>, number: u64) -> bool {
    let sent = client.post(url).header(header::CONTENT_TYPE, "application/json").body(body).send().await;
    match sent.as_ref().map(reqwest::Response::status) {
        Ok(status) => {
            tracing::debug!(number, status = status.as_u16(), "callback answered");
            StatusCode::is_success(&status)
        }
        Err(error) => {
            let error: &dyn Error = error;
            tracing::debug!(number, error, "callback failed");
            false
        }
    }
}

/// The URL and the body: the Pix or the infraction as it stands now, so that a late callback tells the latest.
fn render(psp: &Psp, number: u64) -> Option<(String, Vec<u8>)> {
    let store = psp.read();
    let books = store.books();
    let notification = books.owed_notifications().get(&number)?;
    let body = if let Some(id) = &notification.infraction {
        Body::Infracoes([infraction_views::notice(books.infractions().find(id)?.1)])
    } else if let Some(payment) = books.find_payment(&notification.end_to_end_id) {
        let cob = books.find_cob(&payment.txid).map(|(_, cob)| cob);
        Body::Pix([Told::Received(views::received(psp, payment, cob))])
    } else {
        let sent = books.sends().find_by_end_to_end_id(&notification.end_to_end_id)?;
        Body::Pix([Told::Sent(sent_views::notice(sent, &psp.identity.pix_key))])
    };
    let body = serde_json::to_vec(&body).ok()?;
    Some((format!("{}/pix", notification.url.trim_end_matches('/')), body))
}

fn end(psp: &Psp, number: u64, delivered: bool) {
    if let Err(error) = psp.write().commit(Change::NotificationEnded { number, delivered }) {
        let error: &dyn Error = &error;
        tracing::error!(number, error, "the end of a callback is not recorded");
    }
}
