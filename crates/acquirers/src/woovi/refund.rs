//! Sends the return of a received Pix, reads its outcome, and lists the returns of a charge.

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::ids::RefundId;
use cais_domain::txid::Txid;
use cais_ports::{AcquirerError, RefundOrder, ReturnNature, UpstreamProgress, UpstreamReturn};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::Api;
use super::refusal;
use super::wire::{at, cents, non_empty_text, to_cents};
use crate::bacen::wire::line;
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, part};

/// The longest `comment`, in characters.
const MAX_COMMENT_CHARS: usize = 140;
/// The words for a refund in Woovi's error messages.
const REFUND: [&str; 3] = ["refund", "reembolso", "devolucao"];

#[derive(Serialize)]
struct Request<'a> {
    #[serde(rename = "correlationID")]
    correlation_id: &'a str,
    #[serde(rename = "transactionEndToEndId")]
    end_to_end_id: &'a str,
    value: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

/// An answer with a refund. The field is `refund` after a `POST` and `pixTransactionRefund` in a look-up.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, alias = "pixTransactionRefund")]
    refund: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    refunds: Option<Vec<&'a RawValue>>,
}

/// A return. Its country-wide id is in `returnIdentification` in answers of `/refund`, and in `endToEndId` in the list of a charge.
#[derive(Deserialize)]
struct Refund<'a> {
    #[serde(borrow, rename = "correlationID")]
    correlation_id: Option<&'a RawValue>,
    #[serde(rename = "returnIdentification")]
    return_identification: Option<&'a RawValue>,
    #[serde(rename = "endToEndId")]
    end_to_end_id: Option<&'a RawValue>,
    value: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    time: Option<&'a RawValue>,
}

/// Sends `POST /refund` once. If the identifier is taken, the outcome is unknown until [`find`] reads the refund.
pub(super) async fn send(api: &Api, order: &RefundOrder, deadline: Deadline) -> Result<UpstreamReturn, AcquirerError> {
    let name = order.id.suffix();
    let body = Request {
        correlation_id: &name,
        end_to_end_id: order.end_to_end_id.as_str(),
        value: to_cents(order.amount)?,
        comment: order.description.as_deref().and_then(|text| line(text, MAX_COMMENT_CHARS)),
    };
    let reply = api.post(("/refund", &[]), &body, deadline).await?;
    if !reply.status.is_success() {
        let error = refusal::of_order(&reply);
        tracing::info!(
            acquirer = %api.name(), refund = %order.id, status = reply.status.as_u16(), %error,
            "refund not accepted by the acquirer"
        );
        return Err(error);
    }
    let envelope: Envelope<'_> = reply.read(refusal::of_reply).map_err(FindError::of_a_read)?;
    let found = named(&envelope, &name).map_err(FindError::of_a_read)?;
    if found.amount != order.amount {
        let defect = Defect::mismatch("value", "is not the ordered amount");
        return Err(AcquirerError::OutcomeUnknown(defect.reason()));
    }
    Ok(found)
}

/// Requests `GET /refund/{correlationID}`; `None` if Woovi answers that the refund does not exist.
pub(super) async fn find(api: &Api, id: RefundId, deadline: Deadline) -> Result<Option<UpstreamReturn>, AcquirerError> {
    look_up(api, &id.suffix(), deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(api: &Api, name: &str, deadline: Deadline) -> Result<Option<UpstreamReturn>, FindError> {
    let reply = api.get(&format!("/refund/{name}"), deadline).await?;
    if refusal::is_absence(&reply, &REFUND) {
        return Ok(None);
    }
    let envelope: Envelope<'_> = reply.read(refusal::of_reply)?;
    named(&envelope, name).map(Some)
}

fn named(envelope: &Envelope<'_>, name: &str) -> Result<UpstreamReturn, FindError> {
    let refund: Refund<'_> = refusal::object(envelope.refund, "refund")?;
    let found = read("refund", &refund)?;
    if found.name != name {
        return Err(Defect::mismatch("correlationID", "differs from the request").into());
    }
    Ok(found)
}

/// A return in the list of a charge.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChargeReturn {
    /// The return, without the returned Pix.
    pub(super) back: UpstreamReturn,
    /// The returned Pix, if the row names it.
    pub(super) of: Option<EndToEndId>,
}

/// Requests `GET /charge/{correlationID}/refund`: all returns of the charge's Pix, also those that other systems requested.
pub(super) async fn of_charge(api: &Api, txid: &Txid, deadline: Deadline) -> Result<Vec<ChargeReturn>, FindError> {
    let reply = api.get(&format!("/charge/{txid}/refund"), deadline).await?;
    let listed: Listed<'_> = reply.read(refusal::of_reply)?;
    let rows = listed.refunds.ok_or_else(|| Defect::mismatch("refunds", "is missing"))?;
    let mut returns: Vec<ChargeReturn> = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        let place = format!("refunds[{index}]");
        let refund: Refund<'_> = part(Some(row)).ok_or_else(|| Defect::mismatch(&place, "cannot be read"))?;
        let of = non_empty_text(refund.end_to_end_id).filter(|text| !text.starts_with('D'));
        let of = of.and_then(|text| EndToEndId::parse(&text).ok());
        let found = ChargeReturn { back: read(&place, &refund)?, of };
        if !returns.contains(&found) {
            returns.push(found);
        }
    }
    Ok(returns)
}

/// Parses a return.
fn read(place: &str, refund: &Refund<'_>) -> Result<UpstreamReturn, Defect> {
    let amount = refund.value.and_then(cents);
    let amount = amount.ok_or_else(|| Defect::mismatch(&format!("{place}.value"), "is not an amount"))?;
    // In some of Woovi's documents `endToEndId` contains the id of the returned Pix. Only ids of returns begin with `D`.
    let return_id = non_empty_text(refund.return_identification).or_else(|| non_empty_text(refund.end_to_end_id));
    let return_id = return_id.filter(|text| text.starts_with('D')).and_then(|text| ReturnId::parse(&text).ok());
    let progress = match non_empty_text(refund.status).as_deref() {
        Some("CONFIRMED" | "REFUNDED") => UpstreamProgress::Done { at: at(refund.time) },
        Some("REJECTED" | "NOT_ACCOMPLISHED") => UpstreamProgress::Failed { reason: None },
        // A return with an unknown status counts as in flight. Some documented answers have no status.
        Some(_) | None => UpstreamProgress::Processing,
    };
    let name = non_empty_text(refund.correlation_id).or_else(|| return_id.as_ref().map(ToString::to_string));
    let name = name.unwrap_or_default();
    Ok(UpstreamReturn { name, return_id, nature: ReturnNature::Ordinary, amount, progress })
}
