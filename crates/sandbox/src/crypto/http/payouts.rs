//! Withdrawals, which the API calls payouts: address check, minimum, fee, creation, verification and cancellation.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde_json::{Value, json};

use super::{
    Shared, admit, admit_with_token, json as answer, ok_text, parse_id,
    payments::{coin, url},
    rates::number,
    withdrawal_views as views,
};
use crate::{
    crypto::{
        address,
        error::CryptoError,
        fields::Fields,
        withdrawals::{PAYOUT_DECIMALS, WithdrawalOrder},
    },
    psp::Psp,
    requests::Operation,
};

/// The largest number of withdrawals in a batch.
const MAX_WITHDRAWALS: usize = 100;

/// Returns an error while the tester has switched payouts off with the setting `payouts_allowed`.
pub(super) fn check_allowed(psp: &Psp) -> Result<(), CryptoError> {
    if psp.crypto.settings().payouts_allowed { Ok(()) } else { Err(CryptoError::not_allowed()) }
}

/// `POST /v1/payout/validate-address` `{address, currency, extra_id}`: `OK` as text.
///
/// # Errors
/// 403 without the API key, 400 for an unknown currency or an address that is not valid for the currency.
pub async fn validate(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoAddressCheck)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let (text, code) = (body.required_text("address")?, body.required_text("currency")?);
    let _extra_id = body.text("extra_id")?;
    body.conclude()?;
    check_address(&text, &code)?;
    Ok(ok_text())
}

fn check_address(text: &str, code: &str) -> Result<(), CryptoError> {
    let is_valid = address::is_valid(coin(code)?, text);
    if is_valid {
        return Ok(());
    }
    Err(CryptoError::withdrawal(format!("Invalid payout_address: [{code}] [{text}]")))
}

/// `GET /v1/payout-withdrawal/min-amount/{coin}`: 200 with the minimum of a withdrawal.
///
/// # Errors
/// 403 without the API key, or while the setting `payout_minimum_allowed` is `false`. 400 for an unknown coin.
pub async fn min_amount(
    request: HttpRequest,
    code: web::Path<String>,
    psp: Shared,
) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoMinimum)?;
    if !psp.crypto.settings().payout_minimum_allowed {
        return Err(CryptoError::not_allowed());
    }
    let terms = psp.crypto.market.terms(coin(&code)?);
    answer(StatusCode::OK, &json!({ "success": true, "result": number(&terms.min_payout) }))
}

/// `GET /v1/payout/fee`: 200 with the network fee of a withdrawal. The answer repeats `currency` as it was sent.
///
/// # Errors
/// 403 without the API key, 400 for an unknown coin.
pub async fn fee(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoMinimum)?;
    let mut query = Fields::of_query(&request)?;
    let (code, _amount) = (query.required_text("currency")?, query.required_amount("amount")?);
    query.conclude()?;
    let terms = psp.crypto.market.terms(coin(&code)?);
    answer(StatusCode::OK, &json!({ "currency": code, "fee": number(&terms.payout_fee) }))
}

/// `POST /v1/payout`: 200 with the batch. The operation is not idempotent: a repeated request creates another batch.
///
/// # Errors
/// 403 without the API key, or while payouts are switched off. 401 without a JWT. 400 for a bad address or amount, or an insufficient
/// balance.
pub async fn create(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit_with_token(&psp, &request, Operation::CryptoPayoutCreate)?;
    check_allowed(&psp)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let description = body.text("payout_description")?;
    let callback = body.text("ipn_callback_url")?.map(url).transpose()?;
    // Schedules are not simulated.
    for (name, allowed) in [("interval", "ONETIME"), ("execute_at", "")] {
        if body.text(name)?.is_some_and(|value| value != allowed) {
            return Err(CryptoError::invalid(format!("\"{name}\" is not supported")));
        }
    }
    let list = match body.take("withdrawals") {
        Some(Value::Array(list)) if (1..=MAX_WITHDRAWALS).contains(&list.len()) => list,
        _ => return Err(CryptoError::invalid("\"withdrawals\" must be an array of 1 to 100 items")),
    };
    body.conclude()?;
    let orders = list.into_iter().map(|item| {
        let Value::Object(item) = item else { return Err(CryptoError::invalid("\"withdrawals\" must hold objects")) };
        order(Fields::of_object(item), description.as_deref(), callback.as_deref())
    });
    let batch = psp.create_batch(orders.collect::<Result<_, _>>()?)?;
    let withdrawals: Vec<_> = batch.withdrawals.iter().map(|one| views::created(&batch, one)).collect();
    let withdrawals = serde_json::to_value(withdrawals).map_err(|error| CryptoError::internal(error.to_string()))?;
    answer(StatusCode::OK, &json!({ "id": batch.id.to_string(), "withdrawals": withdrawals }))
}

fn order(mut item: Fields, description: Option<&str>, callback: Option<&str>) -> Result<WithdrawalOrder, CryptoError> {
    let (text, code) = (item.required_text("address")?, item.required_text("currency")?);
    let amount = item.required_amount("amount")?;
    let order = WithdrawalOrder {
        coin: coin(&code)?,
        address: text.clone(),
        amount,
        extra_id: item.text("extra_id")?,
        ipn_callback_url: item.text("ipn_callback_url")?.map(url).transpose()?.or(callback.map(str::to_owned)),
        description: item.text("payout_description")?.or(description.map(str::to_owned)),
        external_id: item.text("unique_external_id")?,
    };
    // `fiat_amount`, which would replace the amount, is not simulated and therefore refused.
    item.conclude()?;
    check_address(&text, &code)?;
    if order.amount.decimals() > i64::from(PAYOUT_DECIMALS) {
        return Err(CryptoError::withdrawal(format!("Withdrawal amount {} has more than 6 decimals", order.amount)));
    }
    Ok(order)
}

/// `POST /v1/payout/{batch id}/verify` `{verification_code}`: `OK` as text.
///
/// # Errors
/// 403 without the API key, or while payouts are switched off. 401 without a JWT. 404 for an unknown batch. 400 for a wrong or repeated
/// code, after ten attempts, and for a batch that does not wait for its verification.
pub async fn verify(
    request: HttpRequest,
    id: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, CryptoError> {
    admit_with_token(&psp, &request, Operation::CryptoPayoutVerify)?;
    check_allowed(&psp)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let code = body.required_text("verification_code")?;
    body.conclude()?;
    psp.verify_batch(parse_id(&id, "Payout")?, &code)?;
    Ok(ok_text())
}

/// `POST /v1/payout/{withdrawal id}/cancel`: always refused. Only scheduled withdrawals can be cancelled, and schedules are not simulated.
///
/// # Errors
/// 403 without the API key, 401 without a JWT, 404 for an unknown withdrawal, otherwise 400.
pub async fn cancel(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit_with_token(&psp, &request, Operation::CryptoPayoutCancel)?;
    let id = parse_id(&id, "Payout")?;
    let exists = psp.read().books().crypto().find_batch(id).is_some();
    let refusal = CryptoError::bad_request("Only scheduled payouts can be cancelled");
    Err(if exists { refusal } else { CryptoError::not_found("Payout") })
}
