//! Payments on the wire, with the types of the real API. Some ids and amounts are text, others are numbers. One absent value is the text
//! `"null"`.

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    crypto::{
        amount::{Amount, Wire},
        coins,
        state::payment::{Payment, PaymentStatus},
    },
    wire::serialize_instant as instant,
};

/// The value of `type`, the same for all payments.
const KIND: &str = "crypto2crypto";

/// The answer to the creation of a payment. Ids are text.
#[derive(Serialize)]
pub struct CreatedPayment<'a> {
    payment_id: String,
    payment_status: PaymentStatus,
    pay_address: &'a str,
    price_amount: Wire<'a>,
    price_currency: &'a str,
    pay_amount: Wire<'a>,
    pay_currency: &'a str,
    order_id: Option<&'a str>,
    order_description: Option<&'a str>,
    ipn_callback_url: Option<&'a str>,
    #[serde(serialize_with = "instant")]
    created_at: Timestamp,
    #[serde(serialize_with = "instant")]
    updated_at: Timestamp,
    purchase_id: String,
    amount_received: Option<()>,
    payin_extra_id: Option<()>,
    smart_contract: &'static str,
    network: &'static str,
    network_precision: u32,
    time_limit: Option<()>,
    burning_percent: Option<()>,
    #[serde(serialize_with = "instant")]
    expiration_estimate_date: Timestamp,
    is_fixed_rate: bool,
    is_fee_paid_by_user: bool,
    #[serde(serialize_with = "instant")]
    valid_until: Timestamp,
    r#type: &'static str,
    #[serde(rename = "redirectData")]
    redirect_data: Option<()>,
}

/// Returns the answer to the creation of a payment. With `as_text`, `pay_amount` is text instead of a number.
#[must_use]
pub fn created(payment: &Payment, as_text: bool) -> CreatedPayment<'_> {
    let terms = &payment.terms;
    let coin = coins::find(&terms.pay_currency);
    CreatedPayment {
        payment_id: payment.id.to_string(),
        payment_status: payment.status,
        pay_address: &payment.pay_address,
        price_amount: Wire::Number(&terms.price_amount),
        price_currency: &terms.price_currency,
        pay_amount: flexible(&terms.pay_amount, as_text),
        pay_currency: &terms.pay_currency,
        order_id: terms.order_id.as_deref(),
        order_description: terms.order_description.as_deref(),
        ipn_callback_url: terms.ipn_callback_url.as_deref(),
        created_at: payment.created_at,
        updated_at: payment.updated_at,
        purchase_id: payment.purchase_id.to_string(),
        amount_received: None,
        payin_extra_id: None,
        smart_contract: coin.and_then(|coin| coin.contract).unwrap_or_default(),
        network: coin.map(|coin| coin.network).unwrap_or_default(),
        network_precision: coin.map(|coin| coin.decimals).unwrap_or_default(),
        time_limit: None,
        burning_percent: None,
        expiration_estimate_date: payment.estimate_until,
        is_fixed_rate: terms.is_fixed_rate,
        is_fee_paid_by_user: terms.is_fee_paid_by_user,
        valid_until: payment.valid_until,
        r#type: KIND,
        redirect_data: None,
    }
}

/// A payment in the answers to reads. Ids are numbers, and `burning_percent` is the text `"null"`.
#[derive(Serialize)]
pub struct ReadPayment<'a> {
    payment_id: u64,
    invoice_id: Option<()>,
    payment_status: PaymentStatus,
    pay_address: &'a str,
    payin_extra_id: Option<()>,
    price_amount: Wire<'a>,
    price_currency: &'a str,
    pay_amount: Wire<'a>,
    actually_paid: Wire<'a>,
    pay_currency: &'a str,
    order_id: Option<&'a str>,
    order_description: Option<&'a str>,
    purchase_id: u64,
    outcome_amount: Option<Wire<'a>>,
    outcome_currency: &'a str,
    payout_hash: Option<()>,
    payin_hash: Option<&'a str>,
    #[serde(serialize_with = "instant")]
    created_at: Timestamp,
    #[serde(serialize_with = "instant")]
    updated_at: Timestamp,
    burning_percent: &'static str,
    r#type: &'static str,
    payment_extra_ids: Option<&'a [u64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_payment_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_type: Option<&'static str>,
}

/// Returns a payment for the answer to a read. With `as_text`, `pay_amount` is text instead of a number.
#[must_use]
pub fn read(payment: &Payment, as_text: bool) -> ReadPayment<'_> {
    let terms = &payment.terms;
    ReadPayment {
        payment_id: payment.id,
        invoice_id: None,
        payment_status: payment.status,
        pay_address: &payment.pay_address,
        payin_extra_id: None,
        price_amount: Wire::Number(&terms.price_amount),
        price_currency: &terms.price_currency,
        pay_amount: flexible(&terms.pay_amount, as_text),
        actually_paid: Wire::Number(&payment.actually_paid),
        pay_currency: &terms.pay_currency,
        order_id: terms.order_id.as_deref(),
        order_description: terms.order_description.as_deref(),
        purchase_id: payment.purchase_id,
        outcome_amount: payment.outcome.as_ref().map(|(amount, _)| Wire::Number(amount)),
        outcome_currency: &terms.outcome_currency,
        payout_hash: None,
        payin_hash: payment.payin_hash.as_deref(),
        created_at: payment.created_at,
        updated_at: payment.updated_at,
        burning_percent: "null",
        r#type: KIND,
        payment_extra_ids: Some(payment.children.as_slice()).filter(|children| !children.is_empty()),
        parent_payment_id: payment.parent,
        origin_type: payment.parent.map(|_| "REPEATED"),
    }
}

fn flexible(amount: &Amount, as_text: bool) -> Wire<'_> {
    if as_text { Wire::Text(amount) } else { Wire::Number(amount) }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FeeView<'a> {
    currency: &'a str,
    deposit_fee: u8,
    withdrawal_fee: u8,
    /// The processor's fee; `null` before the credit of the balance.
    service_fee: Option<Wire<'a>>,
}

/// The notification of a payment. The keys are not sorted, although the signature covers the body with sorted keys. Amounts have at most 15
/// significant digits, because JavaScript may round further digits.
#[derive(Serialize)]
pub struct PaymentIpn<'a> {
    payment_id: u64,
    parent_payment_id: Option<u64>,
    invoice_id: Option<()>,
    payment_status: PaymentStatus,
    pay_address: &'a str,
    payin_extra_id: Option<()>,
    price_amount: Wire<'a>,
    price_currency: &'a str,
    pay_amount: Wire<'a>,
    actually_paid: Wire<'a>,
    actually_paid_at_fiat: u8,
    pay_currency: &'a str,
    order_id: Option<&'a str>,
    order_description: Option<&'a str>,
    purchase_id: String,
    outcome_amount: Option<Wire<'a>>,
    outcome_currency: &'a str,
    payment_extra_ids: Option<&'a [u64]>,
    fee: FeeView<'a>,
}

/// Returns the notification of a payment's current status.
#[must_use]
pub fn ipn(payment: &Payment) -> PaymentIpn<'_> {
    let terms = &payment.terms;
    let currency = &*terms.outcome_currency;
    PaymentIpn {
        payment_id: payment.id,
        parent_payment_id: payment.parent,
        invoice_id: None,
        payment_status: payment.status,
        pay_address: &payment.pay_address,
        payin_extra_id: None,
        price_amount: Wire::Rounded(&terms.price_amount),
        price_currency: &terms.price_currency,
        pay_amount: Wire::Rounded(&terms.pay_amount),
        actually_paid: Wire::Rounded(&payment.actually_paid),
        actually_paid_at_fiat: 0,
        pay_currency: &terms.pay_currency,
        order_id: terms.order_id.as_deref(),
        order_description: terms.order_description.as_deref(),
        purchase_id: payment.purchase_id.to_string(),
        outcome_amount: payment.outcome.as_ref().map(|(amount, _)| Wire::Rounded(amount)),
        outcome_currency: currency,
        payment_extra_ids: Some(payment.children.as_slice()).filter(|children| !children.is_empty()),
        fee: FeeView {
            currency,
            deposit_fee: 0,
            withdrawal_fee: 0,
            service_fee: payment.outcome.as_ref().map(|(_, fee)| Wire::Rounded(fee)),
        },
    }
}
