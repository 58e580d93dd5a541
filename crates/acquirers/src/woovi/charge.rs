//! Creates, reads and cancels charges. Our txid is the charge's `correlationID`.

use std::time::Duration;

use cais_domain::br_code::BrCode;
use cais_domain::document::Document;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, ChargeOrder, UpstreamCharge, UpstreamStatus};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::Api;
use super::refusal;
use super::transaction;
use super::wire::{at, cents, non_empty_text, to_cents};
use crate::bacen::wire::line;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, Reply};

/// The part of the budget reserved for the look-up after the first request.
const RECOVERY_RESERVE: Duration = Duration::from_millis(1_500);
/// The shortest remaining time for a second request. With less time, the answer would likely be lost again.
const MIN_RETRY: Duration = Duration::from_millis(250);
/// The longest `comment`, in characters.
const MAX_COMMENT_CHARS: usize = 140;
/// The longest name of a customer, in characters.
const MAX_NAME_CHARS: usize = 200;
/// The longest accepted `expiresIn`, in seconds: ten years.
const MAX_EXPIRATION_S: i64 = 10 * 365 * 86_400;
/// The words for a charge in Woovi's error messages.
const CHARGE: [&str; 2] = ["charge", "cobranca"];

#[derive(Serialize)]
struct Request<'a> {
    #[serde(rename = "correlationID")]
    correlation_id: &'a str,
    value: i64,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "expiresIn")]
    expires_in: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer: Option<Customer<'a>>,
}

#[derive(Serialize)]
struct Customer<'a> {
    name: String,
    #[serde(rename = "taxID")]
    tax_id: &'a str,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    charge: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Charge<'a> {
    #[serde(borrow, rename = "correlationID")]
    correlation_id: Option<&'a RawValue>,
    value: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    #[serde(rename = "brCode")]
    br_code: Option<&'a RawValue>,
    #[serde(rename = "expiresDate")]
    expires_date: Option<&'a RawValue>,
    #[serde(rename = "expiresIn")]
    expires_in: Option<&'a RawValue>,
    #[serde(rename = "createdAt")]
    created_at: Option<&'a RawValue>,
}

/// The outcome of one `POST`.
enum Post {
    /// The charge exists as ordered.
    Made(UpstreamCharge),
    /// The `correlationID` is taken, and the answer does not contain the charge.
    Exists,
    /// The charge was certainly not created.
    NotCreated(AcquirerError),
    /// A charge with our txid exists, but differs from the order.
    Wrong(String),
    /// The charge may have been created.
    Lost(String),
}

/// Sends `POST /charge?return_existing=true`. After an unknown outcome, reads the charge. If the charge is certainly
/// absent and enough time is left, sends the same `POST` again.
///
/// After an unknown outcome, only an answer that contains the charge is a proof. A charge that differs from the order is then refused. A
/// refusal of the second request proves nothing about the first request.
pub(super) async fn create(
    api: &Api,
    order: &ChargeOrder,
    deadline: Deadline,
) -> Result<UpstreamCharge, AcquirerError> {
    let body = request(order)?;
    let (reason, exists) = match post(api, order, &body, deadline.keeping_back(RECOVERY_RESERVE)).await {
        Post::Made(charge) => return Ok(charge),
        Post::NotCreated(error) => return Err(error),
        Post::Wrong(reason) => return Err(not_as_ordered(api, order, reason)),
        Post::Exists => ("the correlationID is taken, and its charge cannot be read".to_owned(), true),
        Post::Lost(reason) => (reason, false),
    };
    tracing::warn!(
        acquirer = %api.name(), txid = %order.txid, reason,
        "outcome of the creation of a charge unknown; reading the charge"
    );
    match find_ordered(api, order, deadline).await {
        Ok(Some(charge)) => return Ok(charge),
        Ok(None) if !exists && deadline.left() >= MIN_RETRY => {}
        Err(FindError::Defect(Defect::Mismatch(reason))) => return Err(not_as_ordered(api, order, reason)),
        Ok(None) | Err(FindError::Upstream(_) | FindError::Defect(Defect::Unreadable(_))) => {
            return Err(AcquirerError::OutcomeUnknown(reason));
        }
    }
    tracing::warn!(acquirer = %api.name(), txid = %order.txid, "charge not found at the acquirer; it is sent again");
    match post(api, order, &body, deadline).await {
        Post::Made(charge) => Ok(charge),
        Post::Wrong(reason) => Err(not_as_ordered(api, order, reason)),
        Post::Exists | Post::NotCreated(_) | Post::Lost(_) => Err(AcquirerError::OutcomeUnknown(reason)),
    }
}

fn request(order: &ChargeOrder) -> Result<Request<'_>, AcquirerError> {
    if order.expires_in_s == 0 {
        return Err(AcquirerError::Refused("the expiration of the charge is zero seconds".to_owned()));
    }
    Ok(Request {
        correlation_id: order.txid.as_str(),
        value: to_cents(order.amount)?,
        kind: "DYNAMIC",
        expires_in: order.expires_in_s,
        comment: order.description.as_deref().and_then(|text| line(text, MAX_COMMENT_CHARS)),
        customer: order.payer.as_ref().and_then(customer),
    })
}

fn customer((document, name): &(Document, String)) -> Option<Customer<'_>> {
    let tax_id = match document {
        Document::Cpf(cpf) => cpf.as_str(),
        Document::Cnpj(cnpj) => cnpj.as_str(),
    };
    Some(Customer { name: line(name, MAX_NAME_CHARS)?, tax_id })
}

async fn post(api: &Api, order: &ChargeOrder, body: &Request<'_>, deadline: Deadline) -> Post {
    let reply = match api.post(("/charge", &[("return_existing", "true")]), body, deadline).await {
        Ok(reply) => reply,
        Err(AcquirerError::OutcomeUnknown(reason)) => return Post::Lost(reason),
        Err(error @ (AcquirerError::Refused(_) | AcquirerError::Unavailable(_))) => return Post::NotCreated(error),
    };
    if refusal::is_duplicate(&reply) {
        return Post::Exists;
    }
    match ordered(&reply, order) {
        Ok(charge) => Post::Made(charge),
        Err(
            FindError::Upstream(AcquirerError::OutcomeUnknown(reason)) | FindError::Defect(Defect::Unreadable(reason)),
        ) => Post::Lost(reason),
        Err(FindError::Upstream(error)) => Post::NotCreated(error),
        Err(FindError::Defect(Defect::Mismatch(reason))) => Post::Wrong(reason),
    }
}

async fn find_ordered(api: &Api, order: &ChargeOrder, deadline: Deadline) -> Result<Option<UpstreamCharge>, FindError> {
    let Some(reply) = get(api, &order.txid, deadline).await? else { return Ok(None) };
    ordered(&reply, order).map(Some)
}

/// Refuses a charge that differs from the order. The charge's code was never shown, so the charge cannot be paid.
fn not_as_ordered(api: &Api, order: &ChargeOrder, reason: String) -> AcquirerError {
    tracing::warn!(acquirer = %api.name(), txid = %order.txid, reason, "charge differs from its order; it is refused");
    AcquirerError::Refused(reason)
}

/// Reads a charge with its Pix. Returns `None` if Woovi answers that the charge does not exist.
pub(super) async fn find(api: &Api, txid: &Txid, deadline: Deadline) -> Result<Option<UpstreamCharge>, AcquirerError> {
    look_up(api, txid, deadline).await.map_err(FindError::of_a_read)
}

/// Reads a charge, and then its Pix. In this order, a charge that is completed between the two reads still has its Pix in the result.
async fn look_up(api: &Api, txid: &Txid, deadline: Deadline) -> Result<Option<UpstreamCharge>, FindError> {
    let Some(reply) = get(api, txid, deadline).await? else { return Ok(None) };
    let charge = read(&reply, txid)?;
    let payments = transaction::of_charge(api, txid, deadline).await?;
    Ok(Some(UpstreamCharge { payments, ..charge }))
}

/// Deletes an unpaid charge, expired or not. A paid charge is returned unchanged.
///
/// Woovi no longer shows a deleted charge, so the charge is read first. A charge that Woovi does not show is an error.
pub(super) async fn cancel(api: &Api, txid: &Txid, deadline: Deadline) -> Result<UpstreamCharge, AcquirerError> {
    let before = look_up(api, txid, deadline).await.map_err(FindError::of_a_read)?;
    let charge = before.ok_or_else(|| AcquirerError::Refused("no charge has this txid".to_owned()))?;
    if charge.status != UpstreamStatus::Active || !charge.payments.is_empty() {
        return Ok(charge);
    }
    let error = match api.delete(&format!("/charge/{txid}"), deadline).await {
        Ok(reply) if reply.status.is_success() && reply.is_json => None,
        Ok(reply) => Some(refusal::of_reply(&reply)),
        Err(error) => Some(error),
    };
    if let Some(error @ AcquirerError::Unavailable(_)) = error {
        return Err(error);
    }
    let unknown = |reason: String| {
        tracing::warn!(acquirer = %api.name(), %txid, reason, "outcome of a cancellation unknown; the charge may be cancelled");
        AcquirerError::OutcomeUnknown(reason)
    };
    match look_up(api, txid, deadline).await {
        Ok(Some(after)) if after.status == UpstreamStatus::Active && after.payments.is_empty() => {
            Err(error.unwrap_or_else(|| unknown("the removal was confirmed, but the charge still exists".to_owned())))
        }
        Ok(Some(after)) => Ok(after),
        // The charge existed before the `DELETE`, so it was deleted.
        Ok(None) => Ok(UpstreamCharge { status: UpstreamStatus::Removed, ..charge }),
        // The `DELETE` succeeded. Woovi does not document how it refuses to read a deleted charge, so any refusal counts as absence.
        Err(FindError::Upstream(AcquirerError::Refused(_))) if error.is_none() => {
            Ok(UpstreamCharge { status: UpstreamStatus::Removed, ..charge })
        }
        Err(unread) => Err(unknown(unread.of_a_read().to_string())),
    }
}

/// Requests `GET /charge/{correlationID}`; `None` if Woovi answers that the charge does not exist.
async fn get(api: &Api, txid: &Txid, deadline: Deadline) -> Result<Option<Reply>, AcquirerError> {
    let reply = api.get(&format!("/charge/{txid}"), deadline).await?;
    if refusal::is_absence(&reply, &CHARGE) { Ok(None) } else { Ok(Some(reply)) }
}

/// Parses the ordered charge, which must have the ordered amount and a usable code.
fn ordered(reply: &Reply, order: &ChargeOrder) -> Result<UpstreamCharge, FindError> {
    let envelope: Envelope<'_> = reply.read(refusal::of_reply)?;
    let wire: Charge<'_> = refusal::object(envelope.charge, "charge")?;
    let charge = facts(&wire, &order.txid, reply)?;
    if charge.amount != order.amount {
        return Err(Defect::mismatch("value", "is not the ordered amount").into());
    }
    let code = code(&wire, charge.amount)?;
    Ok(UpstreamCharge { copy_paste: Some(code), ..charge })
}

/// Parses any charge with the txid, without its Pix.
fn read(reply: &Reply, txid: &Txid) -> Result<UpstreamCharge, FindError> {
    let envelope: Envelope<'_> = reply.read(refusal::of_reply)?;
    let wire: Charge<'_> = refusal::object(envelope.charge, "charge")?;
    let charge = facts(&wire, txid, reply)?;
    Ok(UpstreamCharge { copy_paste: code(&wire, charge.amount).ok(), ..charge })
}

fn facts(charge: &Charge<'_>, txid: &Txid, reply: &Reply) -> Result<UpstreamCharge, Defect> {
    match non_empty_text(charge.correlation_id) {
        Some(id) if id == txid.as_str() => {}
        Some(_) => return Err(Defect::mismatch("correlationID", "differs from the request")),
        None => return Err(Defect::mismatch("correlationID", "is missing")),
    }
    let amount = charge.value.and_then(cents).ok_or_else(|| Defect::mismatch("value", "is not an amount"))?;
    let status = match non_empty_text(charge.status).as_deref() {
        Some("COMPLETED") => UpstreamStatus::Completed,
        // `ACTIVE`, `EXPIRED` or an unknown status. Only `expires_at` shows whether the charge has expired.
        Some(_) => UpstreamStatus::Active,
        None => return Err(Defect::mismatch("status", "is missing")),
    };
    Ok(UpstreamCharge {
        txid: txid.clone(),
        amount,
        status,
        copy_paste: None,
        expires_at: expires_at(charge)?,
        payments: Vec::new(),
        answered_at: reply.date,
    })
}

fn expires_at(charge: &Charge<'_>) -> Result<Timestamp, Defect> {
    if let Some(expires_at) = at(charge.expires_date) {
        return Ok(expires_at);
    }
    let wrong = || Defect::mismatch("expiresDate", "is not an instant");
    let seconds: i64 = non_empty_text(charge.expires_in).and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
    let created_at = at(charge.created_at).filter(|_| (1..=MAX_EXPIRATION_S).contains(&seconds)).ok_or_else(wrong)?;
    created_at.checked_add(SignedDuration::from_secs(seconds)).map_err(|_| wrong())
}

/// Returns the code after three checks: its checksum is valid, it is dynamic, and it shows no other amount than the charge's.
fn code(charge: &Charge<'_>, amount: Money) -> Result<String, Defect> {
    const FIELD: &str = "brCode";
    let text = non_empty_text(charge.br_code).ok_or_else(|| Defect::mismatch(FIELD, "is missing"))?;
    let text = text.trim();
    match BrCode::parse(text) {
        Ok(BrCode::Dynamic(code)) if code.amount.is_none_or(|shown| shown == amount) => Ok(text.to_owned()),
        Ok(BrCode::Dynamic(_)) => Err(Defect::mismatch(FIELD, "shows another amount")),
        Ok(BrCode::Static(_)) => Err(Defect::mismatch(FIELD, "is not the code of a charge")),
        Err(error) => Err(Defect::mismatch(FIELD, &format!("cannot be used: {error}"))),
    }
}
