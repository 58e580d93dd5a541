//! Registers the callback address: one webhook per event.

use cais_ports::AcquirerError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::Api;
use super::list::{self, List};
use super::refusal;
use super::wire::non_empty_text;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, part};

const WEBHOOKS: List = List { path: "/webhook", field: "webhooks", per_page: 100, names: &["/id"] };
/// The name of our webhooks at Woovi.
const NAME: &str = "cais";
/// The events that report a change of a charge, a refund, a payout or an infraction.
pub(super) const EVENTS: [&str; 13] = [
    "OPENPIX:CHARGE_COMPLETED",
    "OPENPIX:CHARGE_EXPIRED",
    "OPENPIX:TRANSACTION_RECEIVED",
    "PIX_TRANSACTION_REFUND_SENT_CONFIRMED",
    "PIX_TRANSACTION_REFUND_SENT_REJECTED",
    "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED",
    "OPENPIX:MOVEMENT_CONFIRMED",
    "OPENPIX:MOVEMENT_FAILED",
    "OPENPIX:MOVEMENT_REMOVED",
    "OPENPIX:DISPUTE_CREATED",
    "OPENPIX:DISPUTE_ACCEPTED",
    "OPENPIX:DISPUTE_REJECTED",
    "OPENPIX:DISPUTE_CANCELED",
];

#[derive(Serialize)]
struct Creation<'a> {
    webhook: NewWebhook<'a>,
}

#[derive(Serialize)]
struct NewWebhook<'a> {
    name: &'static str,
    event: &'static str,
    url: &'a str,
    #[serde(rename = "isActive")]
    is_active: bool,
}

#[derive(Deserialize)]
struct Webhook<'a> {
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    url: Option<&'a RawValue>,
    #[serde(rename = "isActive")]
    is_active: Option<bool>,
}

/// Registers the events that `url` has no active webhook for. Webhooks of other addresses stay.
///
/// If an event is refused, the others are still registered, and the first such error is returned at the end.
pub(super) async fn register(api: &Api, url: &str, deadline: Deadline) -> Result<(), AcquirerError> {
    let present = registered(api, url, deadline).await.map_err(FindError::of_a_read)?;
    let mut first_error = None;
    for event in EVENTS.into_iter().filter(|event| !present.iter().any(|known| is_same(known, event))) {
        match create(api, event, url, deadline).await {
            Ok(()) => {}
            Err(error @ AcquirerError::Refused(_)) => {
                tracing::warn!(acquirer = %api.name(), event, %error, "event refused by the acquirer; its callbacks are missing");
                first_error = first_error.or(Some(error));
            }
            Err(error) => return Err(error),
        }
    }
    first_error.map_or(Ok(()), Err)
}

/// Returns the events with an active webhook of this address.
async fn registered(api: &Api, url: &str, deadline: Deadline) -> Result<Vec<String>, FindError> {
    let row = |place: &str, row: &RawValue| {
        let webhook: Webhook<'_> = part(Some(row)).ok_or_else(|| Defect::mismatch(place, "cannot be read"))?;
        let is_ours = non_empty_text(webhook.url).as_deref() == Some(url) && webhook.is_active != Some(false);
        Ok(if is_ours { non_empty_text(webhook.event) } else { None })
    };
    // The first page is enough: an address has one webhook per event, and a page has more rows than [`EVENTS`].
    let page = list::fetch(api, WEBHOOKS, &[("url", url)], 0, deadline, row).await?;
    Ok(page.rows)
}

async fn create(api: &Api, event: &'static str, url: &str, deadline: Deadline) -> Result<(), AcquirerError> {
    let body = Creation { webhook: NewWebhook { name: NAME, event, url, is_active: true } };
    let reply = api.post(("/webhook", &[]), &body, deadline).await?;
    if reply.status.is_success() { Ok(()) } else { Err(refusal::of_reply(&reply)) }
}

/// Compares two event names without their prefix, because some of Woovi's documents write `woovi:` in place of `OPENPIX:`.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |event: &str| event.rsplit(':').next().unwrap_or_default().to_owned();
    bare(one) == bare(other)
}
