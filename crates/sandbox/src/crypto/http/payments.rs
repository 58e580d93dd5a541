//! `POST /v1/payment` and `GET /v1/payment/{id}`.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde_json::json;

use super::{Shared, admit, json as answer, parse_id, payment_views as views, rates::number};
use crate::{
    crypto::{
        coins::{self, Coin},
        deposits::{Case, PaymentOrder},
        error::CryptoError,
        fields::Fields,
        market::RateFlags,
    },
    requests::Operation,
    wire,
};

/// `POST /v1/payment`: 201 with the payment and its address. The operation is not idempotent: a repeated request creates another payment.
///
/// # Errors
/// 403 without the API key; 400 for unknown fields and currencies, and for an amount below the minimum.
pub async fn create(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoPaymentCreate)?;
    let body = Fields::of_body(&request, payload).await?;
    let payment = psp.create_payment(order(body)?)?;
    answer(StatusCode::CREATED, &views::created(&payment, psp.crypto.settings().pay_amount_as_text))
}

fn order(mut body: Fields) -> Result<PaymentOrder, CryptoError> {
    let pay_currency = body.required_text("pay_currency")?;
    let payout_currency = body.text("payout_currency")?;
    if body.text("payout_address")?.is_some() && payout_currency.is_none() {
        return Err(CryptoError::invalid("\"payout_currency\" is required"));
    }
    // `payout_address`, `payout_extra_id` and `purchase_id` have no effect: coins always go to the account's balance, and the simulator
    // assigns all purchase ids.
    let (_extra_id, _purchase_id) = (body.text("payout_extra_id")?, body.text("purchase_id")?);
    let case = match body.text("case")?.as_deref() {
        None => None,
        Some("success") => Some(Case::Success),
        Some("failed") => Some(Case::Failed),
        Some("partially_paid") => Some(Case::PartiallyPaid),
        Some(_) => return Err(CryptoError::invalid("\"case\" must be one of [success, failed, partially_paid]")),
    };
    // Old clients send `fixed_rate` instead of `is_fixed_rate`.
    let is_fixed_rate = body.flag("is_fixed_rate")? | body.flag("fixed_rate")?;
    let order = PaymentOrder {
        price_amount: body.required_amount("price_amount")?,
        price_currency: body.required_text("price_currency")?,
        coin: coin(&pay_currency)?,
        pay_amount: body.amount("pay_amount")?,
        outcome: payout_currency.as_deref().map(coin).transpose()?,
        order_id: body.text("order_id")?,
        order_description: body.text("order_description")?,
        ipn_callback_url: body.text("ipn_callback_url")?.map(url).transpose()?,
        flags: RateFlags { is_fixed_rate, is_fee_paid_by_user: body.flag("is_fee_paid_by_user")? },
        case,
    };
    body.conclude()?;
    Ok(order)
}

/// Returns the coin of a code in upper or lower case.
///
/// # Errors
/// 400 for unknown codes.
pub(super) fn coin(code: &str) -> Result<&'static Coin, CryptoError> {
    coins::find(code).ok_or_else(|| CryptoError::currency(code))
}

/// Returns `text` if it is a URL for notifications.
///
/// # Errors
/// 400 unless the text begins with `http://` or `https://`.
pub(super) fn url(text: String) -> Result<String, CryptoError> {
    let is_url = text.starts_with("http://") || text.starts_with("https://");
    if is_url { Ok(text) } else { Err(CryptoError::invalid("\"ipn_callback_url\" must be a valid uri")) }
}

/// `GET /v1/payment/{id}`: 200 with the payment.
///
/// # Errors
/// 403 without the API key, 400 for an id that is not a number, 404 for an unknown one.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoPaymentRead)?;
    psp.settle_due()?;
    let payment = psp.find_crypto_payment(parse_id(&id, "Payment")?)?;
    answer(StatusCode::OK, &views::read(&payment, psp.crypto.settings().pay_amount_as_text))
}

/// `POST /v1/payment/{id}/update-merchant-estimate`: 200 with the estimate of the payment. An estimate that has ended is renewed first, if
/// the payment still waits for its deposit.
///
/// # Errors
/// The errors of [`get`].
pub async fn update_estimate(
    request: HttpRequest,
    id: web::Path<String>,
    psp: Shared,
) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoPaymentRead)?;
    let payment = psp.renew_estimate(parse_id(&id, "Payment")?)?;
    let body = json!({
        "id": payment.id.to_string(),
        "token_id": payment.purchase_id.to_string(),
        "pay_amount": number(&payment.terms.pay_amount),
        "expiration_estimate_date": wire::instant(payment.estimate_until),
    });
    answer(StatusCode::OK, &body)
}
