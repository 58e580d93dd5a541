//! Creates deposits. Reads deposits in three places: the answer to the creation, a single record, and a row of the list.

use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::{ProcessorId, rounding};
use cais_domain::ids::CryptoDepositId;
use cais_ports::{AcquirerError, CryptoDepositOrder, UpstreamDeposit, UpstreamDepositStatus};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use serde_json::value::RawValue;

use super::api::{Access, Api};
use super::{refusal, wire};
use crate::deadline::Deadline;
use crate::http::{Defect, FindError};

/// A payment to one of our addresses. Required fields may be missing here, so that [`read`] can report them.
#[derive(Deserialize)]
pub(super) struct Payment<'a> {
    #[serde(borrow, rename = "payment_id")]
    id: Option<&'a RawValue>,
    parent_payment_id: Option<&'a RawValue>,
    #[serde(rename = "payment_extra_ids")]
    later_ids: Option<&'a RawValue>,
    order_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "payment_status")]
    status: Option<&'a RawValue>,
    pay_address: Option<&'a RawValue>,
    payin_extra_id: Option<&'a RawValue>,
    pay_amount: Option<&'a RawValue>,
    actually_paid: Option<&'a RawValue>,
    pay_currency: Option<&'a RawValue>,
    payin_hash: Option<&'a RawValue>,
    created_at: Option<&'a RawValue>,
    updated_at: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct PaymentRequest<'a> {
    price_amount: Number,
    price_currency: &'static str,
    pay_currency: &'static str,
    order_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipn_callback_url: Option<&'a str>,
    is_fixed_rate: bool,
    is_fee_paid_by_user: bool,
}

/// Sends `POST /v1/payment` once. The price is given in the coin, so the processor does not convert it.
///
/// An answer for another order, currency or amount is refused. The address of such a deposit is not shown to a payer, so the deposit
/// expires without effect.
pub(super) async fn create(
    api: &Api,
    order: &CryptoDepositOrder,
    callback_url: Option<&str>,
    deadline: Deadline,
) -> Result<UpstreamDeposit, AcquirerError> {
    let body = PaymentRequest {
        price_amount: wire::number(order.amount)?,
        price_currency: order.amount.currency().code(),
        pay_currency: order.amount.currency().code(),
        order_id: order.id.to_string(),
        ipn_callback_url: callback_url,
        is_fixed_rate: false,
        is_fee_paid_by_user: false,
    };
    let reply = api.post("/v1/payment", &body, Access::Key, deadline).await?;
    if !reply.status.is_success() {
        return Err(refusal::of_reply(&reply));
    }
    let payment: Payment<'_> = reply.read(refusal::of_reply).map_err(FindError::of_a_read)?;
    ordered(&payment, order).map_err(|defect| match defect {
        Defect::Mismatch(reason) => AcquirerError::Refused(reason),
        Defect::Unreadable(reason) => AcquirerError::OutcomeUnknown(reason),
    })
}

/// Requests `GET /v1/payment/{id}`.
pub(super) async fn get(api: &Api, id: &ProcessorId, deadline: Deadline) -> Result<UpstreamDeposit, FindError> {
    let reply = api.get(&format!("/v1/payment/{id}"), &[], Access::Key, deadline).await?;
    let deposit = read(&reply.read(refusal::of_reply)?)?;
    if deposit.id != *id {
        return Err(Defect::mismatch("payment_id", "differs from the request").into());
    }
    Ok(deposit)
}

/// Parses a payment and checks that it is the ordered deposit.
fn ordered(payment: &Payment<'_>, order: &CryptoDepositOrder) -> Result<UpstreamDeposit, Defect> {
    let deposit = read(payment)?;
    if deposit.order != Some(order.id) {
        return Err(Defect::mismatch("order_id", "differs from the request"));
    }
    if deposit.asked != Some(order.amount) {
        return Err(Defect::mismatch("pay_amount", "differs from the request"));
    }
    if deposit.address.is_none() {
        return Err(Defect::mismatch("pay_address", "is not an address of the currency"));
    }
    Ok(deposit)
}

/// Parses a payment.
pub(super) fn read(payment: &Payment<'_>) -> Result<UpstreamDeposit, Defect> {
    let code = wire::short_text(payment.pay_currency).ok_or_else(|| Defect::mismatch("pay_currency", "is missing"))?;
    let currency = wire::currency(&code);
    let asked = match (currency, amount(payment.pay_amount)) {
        (Some(currency), Some(value)) => {
            let nearest = (currency.deposit_decimals(), rounding::ECHOED_COINS);
            Some(wire::rounded(Some(value), "pay_amount", currency, nearest)?)
        }
        (None, _) | (_, None) => None,
    };
    let received = match (currency, amount(payment.actually_paid)) {
        (_, None) => None,
        (Some(currency), value) => Some(ArrivedCoins::Supported(wire::rounded_down(value, "actually_paid", currency)?)),
        (None, value) => {
            let amount = wire::short_text(value).unwrap_or_default();
            Some(ArrivedCoins::Unsupported { currency: code, amount })
        }
    };
    let address = currency.and_then(|currency| wire::address(payment.pay_address, "pay_address", currency).ok());
    Ok(UpstreamDeposit {
        id: wire::required_id(payment.id, "payment_id")?,
        parent: wire::id(payment.parent_payment_id, "parent_payment_id")?,
        later: later(payment.later_ids),
        order: wire::short_text(payment.order_id).and_then(|text| CryptoDepositId::parse(&text).ok()),
        status: status(wire::short_text(payment.status).as_deref().unwrap_or_default()),
        address,
        extra_id: wire::short_text(payment.payin_extra_id),
        asked,
        received,
        tx_hash: wire::short_text(payment.payin_hash),
        created_at: wire::optional_instant(payment.created_at),
        updated_at: wire::optional_instant(payment.updated_at),
    })
}

/// Returns the value unless it is `null`.
fn amount(value: Option<&RawValue>) -> Option<&RawValue> {
    value.filter(|value| value.get() != "null")
}

/// Returns the identifiers of later payments to the same address. Unreadable identifiers are skipped, because the list `/v1/payment/` shows
/// the later payments too.
fn later(value: Option<&RawValue>) -> Vec<ProcessorId> {
    let ids: Option<Vec<&RawValue>> = value.and_then(|value| serde_json::from_str(value.get()).ok());
    ids.into_iter().flatten().filter_map(|id| wire::id(Some(id), "payment_extra_ids").ok().flatten()).collect()
}

fn status(word: &str) -> UpstreamDepositStatus {
    match word.to_ascii_lowercase().as_str() {
        "waiting" => UpstreamDepositStatus::Waiting,
        "confirming" => UpstreamDepositStatus::Confirming,
        "confirmed" => UpstreamDepositStatus::Confirmed,
        "sending" => UpstreamDepositStatus::Sending,
        "partially_paid" => UpstreamDepositStatus::PartiallyPaid,
        "finished" => UpstreamDepositStatus::Finished,
        "failed" => UpstreamDepositStatus::Failed,
        "refunded" => UpstreamDepositStatus::Refunded,
        // The official client of NOWPayments treats these words as `expired` too.
        "expired" | "cancelled" | "canceled" => UpstreamDepositStatus::Expired,
        _ => UpstreamDepositStatus::Unknown,
    }
}
