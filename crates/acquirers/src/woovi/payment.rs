//! Reads sent Pix, which Woovi calls payments. An answer that contradicts the order is an error.

use cais_domain::document::Cpf;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::payout::Recipient;
use cais_domain::pix_key::PixKey;
use cais_ports::{UpstreamPayout, UpstreamProgress};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::refusal;
use super::wire::{at, cents, non_empty_text};
use crate::bacen::wire::line;
use crate::http::{Defect, FindError, Reply, part};
use crate::sent::{Expected, MAX_DOCUMENT_CHARS, MAX_NAME_CHARS, MAX_REASON_CHARS};

/// A payment with its transaction and recipient, which appear after the approval.
#[derive(Deserialize)]
struct Sent<'a> {
    #[serde(borrow)]
    payment: Option<&'a RawValue>,
    transaction: Option<&'a RawValue>,
    destination: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payment<'a> {
    #[serde(borrow, rename = "correlationID")]
    correlation_id: Option<&'a RawValue>,
    value: Option<&'a RawValue>,
    status: Option<&'a RawValue>,
    #[serde(rename = "destinationAlias")]
    alias: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Transaction<'a> {
    #[serde(borrow, rename = "endToEndId")]
    end_to_end_id: Option<&'a RawValue>,
    time: Option<&'a RawValue>,
    #[serde(rename = "providerRejectedReason")]
    rejected_reason: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Destination<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    /// A text, or an object with the text.
    #[serde(rename = "taxID")]
    tax_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct TaxId<'a> {
    #[serde(borrow, rename = "taxID")]
    tax_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    description: Option<&'a RawValue>,
}

/// Parses the payment in a successful answer.
pub(super) fn read(reply: &Reply, expected: &Expected<'_>) -> Result<UpstreamPayout, FindError> {
    let sent: Sent<'_> = reply.read(refusal::of_reply)?;
    let payment: Payment<'_> = refusal::object(sent.payment, "payment")?;
    match non_empty_text(payment.correlation_id) {
        Some(id) if id == expected.instruction_id.as_str() => {}
        Some(_) => return Err(Defect::mismatch("correlationID", "differs from the request").into()),
        None => return Err(Defect::mismatch("correlationID", "is missing").into()),
    }
    let payout = facts("", (&sent, &payment), expected.instruction_id)?;
    let Some(order) = expected.order else { return Ok(payout) };
    if payout.amount != order.amount {
        return Err(Defect::mismatch("value", "is not the ordered amount").into());
    }
    let goes_to = |alias: &str| PixKey::parse_as(alias, order.pix_key.key_type()).is_ok_and(|key| key == order.pix_key);
    if non_empty_text(payment.alias).is_some_and(|alias| !goes_to(&alias)) {
        return Err(Defect::mismatch("destinationAlias", "is not the ordered recipient").into());
    }
    Ok(payout)
}

/// Parses a row of the list. A payment whose identifier is no instruction id is skipped. A payment of another client of the
/// account may have an instruction id; it is skipped only if its other fields cannot be read.
pub(super) fn row(place: &str, row: &RawValue) -> Result<Option<UpstreamPayout>, Defect> {
    let unreadable = || Defect::mismatch(place, "cannot be read");
    let sent: Sent<'_> = part(Some(row)).ok_or_else(unreadable)?;
    let payment: Payment<'_> = part(sent.payment).ok_or_else(unreadable)?;
    let id = non_empty_text(payment.correlation_id).and_then(|id| InstructionId::parse(&id).ok());
    let Some(instruction_id) = id else { return Ok(None) };
    match facts(&format!("{place}."), (&sent, &payment), &instruction_id) {
        Ok(payout) => Ok(Some(payout)),
        Err(defect) if instruction_id.payout().is_some() => Err(defect),
        Err(defect) => {
            let reason = defect.reason();
            tracing::warn!(%instruction_id, reason, "payment of another client cannot be read; it is skipped");
            Ok(None)
        }
    }
}

/// Parses a payment; `place` is the prefix for field names in errors.
fn facts(
    place: &str,
    (sent, payment): (&Sent<'_>, &Payment<'_>),
    instruction_id: &InstructionId,
) -> Result<UpstreamPayout, Defect> {
    let wrong = |field: &str, what: &str| Defect::mismatch(&format!("{place}{field}"), what);
    let amount = payment.value.and_then(cents).ok_or_else(|| wrong("value", "is not an amount"))?;
    let status = non_empty_text(payment.status).ok_or_else(|| wrong("status", "is missing"))?;
    let transaction: Option<Transaction<'_>> = part(sent.transaction);
    let end_to_end_id = transaction.as_ref().and_then(|transaction| non_empty_text(transaction.end_to_end_id));
    let end_to_end_id = end_to_end_id.and_then(|text| EndToEndId::parse(&text).ok());
    let progress = match status.as_str() {
        "CONFIRMED" => UpstreamProgress::Done { at: at(transaction.as_ref().and_then(|found| found.time)) },
        "FAILED" | "REJECTED" | "DENIED" => {
            UpstreamProgress::Failed { reason: reason(part(sent.error).as_ref(), transaction.as_ref()) }
        }
        // CREATED, APPROVED and PROCESSING. An unknown status is unfinished.
        _ => UpstreamProgress::Processing,
    };
    if end_to_end_id.is_none() && matches!(progress, UpstreamProgress::Done { .. }) {
        return Err(wrong("endToEndId", "is missing although the Pix arrived"));
    }
    Ok(UpstreamPayout {
        instruction_id: instruction_id.clone(),
        end_to_end_id,
        amount,
        recipient: part(sent.destination).as_ref().map(recipient).unwrap_or_default(),
        progress,
        awaits_approval: status == "CREATED",
        returned: Vec::new(),
    })
}

/// Returns the recipient institution's reason, else Woovi's description, else Woovi's code.
fn reason(failure: Option<&Failure<'_>>, transaction: Option<&Transaction<'_>>) -> Option<String> {
    let shown = |value: Option<&RawValue>| non_empty_text(value).and_then(|text| line(&text, MAX_REASON_CHARS));
    let of_failure = |failure: &Failure<'_>| shown(failure.description).or_else(|| shown(failure.code));
    transaction.and_then(|found| shown(found.rejected_reason)).or_else(|| failure.and_then(of_failure))
}

fn recipient(destination: &Destination<'_>) -> Recipient {
    let shown = |value: Option<&RawValue>, max| non_empty_text(value).and_then(|text| line(&text, max));
    let inner = || part::<TaxId<'_>>(destination.tax_id).and_then(|found| shown(found.tax_id, MAX_DOCUMENT_CHARS));
    let document = shown(destination.tax_id, MAX_DOCUMENT_CHARS).or_else(inner);
    // Woovi may send an unmasked CPF, which is masked here.
    let document = document.map(|value| match Cpf::parse(&value) {
        Ok(cpf) => cpf.masked(),
        Err(_) => value,
    });
    Recipient { name: shown(destination.name, MAX_NAME_CHARS), document }
}
