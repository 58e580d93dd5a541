//! Reads callbacks. A callback is a hint for a look-up, never a proof of payment.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use cais_ports::{
    AcquirerError, CallbackInfraction, CallbackItem, CallbackPayout, CallbackPix, CallbackReturn, alerts,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::{at, non_empty_text};
use crate::efi::infraction::is_id;
use crate::http::part;

/// The largest accepted callback, in bytes: the same limit as that of our endpoint for callbacks.
const MAX_BYTES: usize = 1024 * 1024;
/// The value of the field `evento` in Woovi's test of a registered address. The field `event` does not show that the callback is a test: it
/// contains an event of the webhook.
const TEST: &str = "teste_webhook";
/// The event of a sent Pix that was returned.
const PAYOUT_RETURNED: &str = "PIX_TRANSACTION_REFUND_RECEIVED_CONFIRMED";

#[derive(Deserialize)]
struct Callback<'a> {
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    evento: Option<&'a RawValue>,
    charge: Option<&'a RawValue>,
    pix: Option<&'a RawValue>,
    payment: Option<&'a RawValue>,
    dispute: Option<&'a RawValue>,
    #[serde(rename = "originalTransaction")]
    original: Option<&'a RawValue>,
    #[serde(rename = "refundTransaction")]
    returned: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, rename = "correlationID")]
    correlation_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Pix<'a> {
    #[serde(borrow, rename = "endToEndId")]
    end_to_end_id: Option<&'a RawValue>,
    time: Option<&'a RawValue>,
    charge: Option<&'a RawValue>,
    r#type: Option<&'a RawValue>,
    value: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Dispute<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// Returns the resource that a callback names, if the resource may be ours. Otherwise returns an empty list, for example after Woovi's test
/// of an address.
///
/// The resource in the callback decides the kind of the item. The event name decides only for the return of a sent Pix, because
/// Woovi's documents write the prefix of other event names in several ways.
pub(super) fn read(name: &AcquirerName, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
    let refused = |reason: &str| AcquirerError::Refused(format!("the callback {reason}"));
    if body.len() > MAX_BYTES {
        return Err(refused("is too large"));
    }
    let callback: Callback<'_> = serde_json::from_slice(body).map_err(|_| refused("is not the JSON of Woovi"))?;
    let is_return = non_empty_text(callback.event).as_deref() == Some(PAYOUT_RETURNED);
    // In a callback about a return, the payment is skipped, because reading that payment would not show the return.
    let of_payment = || sent(&callback).filter(|_| !is_return);
    let named = disputed(&callback).or_else(of_payment).or_else(|| received(&callback));
    if named.is_none() && is_return {
        let returned = returned_payout(&callback);
        if returned.is_none() && non_empty_text(callback.evento).as_deref() != Some(TEST) {
            alert_return(name, &callback);
        }
        return Ok(returned.into_iter().collect());
    }
    Ok(named.into_iter().collect())
}

/// Reads a dispute. A dispute without a valid id gives `None`, and the next read of the list finds the dispute.
fn disputed(callback: &Callback<'_>) -> Option<CallbackItem> {
    let dispute: Dispute<'_> = part(callback.dispute)?;
    let id = non_empty_text(dispute.id).filter(|id| is_id(id))?;
    Some(CallbackItem::Infraction(CallbackInfraction { id }))
}

/// Reads a sent Pix. A payment with an identifier of another system gives `None`.
fn sent(callback: &Callback<'_>) -> Option<CallbackItem> {
    let id = correlation_id(callback.payment)?;
    let instruction_id = InstructionId::parse(&id).ok().filter(|id| id.payout().is_some())?;
    Some(CallbackItem::Sent(CallbackPayout { instruction_id, returns: Vec::new() }))
}

/// Reads the return of a sent Pix. The callback has the end-to-end id of the Pix, but not the `correlationID` of its payment.
fn returned_payout(callback: &Callback<'_>) -> Option<CallbackItem> {
    let id = |pix: Option<&RawValue>| non_empty_text(part::<Pix<'_>>(pix)?.end_to_end_id);
    let end_to_end_id = EndToEndId::parse(&id(callback.original)?).ok()?;
    let return_id = ReturnId::parse(&id(callback.returned)?).ok()?;
    Some(CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id, return_id }))
}

/// Reads a received Pix, or a return of it. A Pix without a charge of ours gives `None`.
///
/// For a return, the item names only the charge. The charge is then read, because lists do not show returns.
fn received(callback: &Callback<'_>) -> Option<CallbackItem> {
    let pix: Option<Pix<'_>> = part(callback.pix.or(callback.original));
    let of_pix = pix.as_ref().and_then(|pix| correlation_id(pix.charge));
    let txid = Txid::parse(&correlation_id(callback.charge).or(of_pix)?).ok()?;
    // The transaction of a return is skipped, because its id and instant are those of the return.
    let pix = pix.filter(|pix| callback.returned.is_none() && non_empty_text(pix.r#type).as_deref() != Some("REFUND"));
    let end_to_end_id = pix.as_ref().and_then(|pix| non_empty_text(pix.end_to_end_id));
    let end_to_end_id = end_to_end_id.and_then(|text| EndToEndId::parse(&text).ok());
    let paid_at = pix.as_ref().and_then(|pix| at(pix.time));
    Some(CallbackItem::Received(CallbackPix { txid, end_to_end_id, paid_at }))
}

fn correlation_id(value: Option<&RawValue>) -> Option<String> {
    non_empty_text(part::<Named<'_>>(value)?.correlation_id)
}

/// Raises the alert for a returned payout whose ids are unreadable.
fn alert_return(name: &AcquirerName, callback: &Callback<'_>) {
    let (original, returned): (Option<Pix<'_>>, Option<Pix<'_>>) = (part(callback.original), part(callback.returned));
    let id = |pix: &Option<Pix<'_>>| pix.as_ref().and_then(|pix| non_empty_text(pix.end_to_end_id)).unwrap_or_default();
    let centavos = returned.as_ref().and_then(|pix| non_empty_text(pix.value)).unwrap_or_default();
    tracing::error!(
        alert = alerts::PAYOUT_RETURN_UNCREDITED, acquirer = %name, end_to_end_id = id(&original),
        return_id = id(&returned), centavos, "callback of a returned payout has an unreadable id; credit by hand needed"
    );
}
