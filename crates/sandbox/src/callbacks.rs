//! Sends the institution's callbacks about received and sent Pix, returns and infractions. Each callback is attempted until the receiver
//! answers 2xx, at most `MAX_ATTEMPTS` times in all.

use std::{cmp::Reverse, collections::BinaryHeap, error::Error, sync::Arc, time::Duration};

use reqwest::{Client, StatusCode, header, redirect};
use serde::Serialize;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::{
    efi::{
        infraction_views::{self, InfractionCallback},
        views::{self as sent_views, SentCallback},
    },
    faults::{FaultMode, FaultTarget},
    pix::views::{self, PixView},
    psp::Psp,
    state::change::Change,
};

/// The largest number of concurrent callbacks. A receiver that needs 20 ms for each still gets about 3,000 per second.
const MAX_IN_FLIGHT: usize = 64;

/// The largest number of attempts per callback. With the default `callback_retry_base`, the last attempt is about eight minutes after the
/// first.
const MAX_ATTEMPTS: u32 = 10;

/// The time limit for a receiver's answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A planned attempt: the instant when it is due, the number of the callback, and the number of earlier attempts.
type Due = Reverse<(Instant, u64, u32)>;

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Body<'a> {
    Pix([PixItem<'a>; 1]),
    Infracoes([InfractionCallback<'a>; 1]),
}

#[derive(Serialize)]
#[serde(untagged)]
enum PixItem<'a> {
    Received(PixView<'a>),
    Sent(SentCallback<'a>),
}

/// Creates an HTTP client that follows no redirects and uses no proxy. A request ends after [`TIMEOUT`].
///
/// # Errors
/// If the TLS library cannot be set up.
pub fn client() -> reqwest::Result<Client> {
    Client::builder().redirect(redirect::Policy::none()).no_proxy().timeout(TIMEOUT).build()
}

/// Sends callbacks, first those that an earlier process did not deliver. The wait before a second attempt is `retry_base`, and doubles with
/// each further attempt. Never returns.
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
            () = psp.callback_wakeup.notified() => {}
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

/// Makes one attempt. Returns `true` if the receiver answered 2xx.
async fn attempt(psp: Arc<Psp>, client: Client, number: u64) -> bool {
    let Some((url, body)) = render(&psp, number) else {
        return false;
    };
    let is_accepted = post(&client, &url, body.clone(), number).await;
    if is_accepted && psp.faults.mode_of(FaultTarget::Institution) == FaultMode::DoubleCallback {
        // This mode sends an accepted callback again. The outcome of the second one has no effect.
        post(&client, &url, body, number).await;
    }
    is_accepted
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
            tracing::debug!(number, error, "callback received no answer; the attempt failed");
            false
        }
    }
}

/// Returns the URL and the body of a callback that waits for its delivery. The body shows the Pix or the infraction as it is now.
fn render(psp: &Psp, number: u64) -> Option<(String, Vec<u8>)> {
    let store = psp.read();
    let books = store.books();
    let notification = books.owed_notifications().get(&number)?;
    let body = if let Some(id) = &notification.infraction {
        Body::Infracoes([infraction_views::callback(books.infractions().find(id)?.1)])
    } else if let Some(payment) = books.find_payment(&notification.end_to_end_id) {
        let cob = books.find_cob(&payment.txid).map(|(_, cob)| cob);
        Body::Pix([PixItem::Received(views::received(psp, payment, cob))])
    } else {
        let sent = books.sends().find_by_end_to_end_id(&notification.end_to_end_id)?;
        Body::Pix([PixItem::Sent(sent_views::callback(sent, &psp.identity.pix_key))])
    };
    let body = serde_json::to_vec(&body).ok()?;
    Some((format!("{}/pix", notification.url.trim_end_matches('/')), body))
}

fn end(psp: &Psp, number: u64, delivered: bool) {
    if let Err(error) = psp.write().commit(Change::NotificationEnded { number, delivered }) {
        let error: &dyn Error = &error;
        tracing::error!(
            number,
            error,
            "end of a callback could not be recorded; the callback is sent again after a restart"
        );
    }
}
