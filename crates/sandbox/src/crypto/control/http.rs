//! The control of the crypto processor over HTTP, under `/sandbox/`.

use actix_web::{HttpResponse, http::StatusCode, web};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    super::{
        http::{payment_views, withdrawal_views},
        settings::Settings,
        state::payout::WithdrawalOutcome,
    },
    CoinValues, CryptoDeposit, PaymentStatus, id_of,
};
use crate::{
    control::{
        ControlError,
        http::{control, read},
    },
    pix::{
        Shared, json as answer,
        problem::{Kind, Problem},
    },
};

/// Returns the value of a field as text. The field may be a string or a number.
fn text(value: Option<Value>) -> Option<String> {
    value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DepositBody {
    amount: Option<Value>,
    currency: Option<String>,
    #[serde(default)]
    hold: bool,
}

/// `POST /sandbox/payment/{payment_id}/pay` `{amount?, currency?, hold?}`: makes a deposit; 200 with the payment that received the coins.
///
/// # Errors
/// 404 for an unknown payment, 400 for a bad amount or coin.
pub async fn pay(id: web::Path<String>, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let DepositBody { amount, currency, hold } = read(payload).await?;
    let deposit = CryptoDeposit { amount: text(amount), currency, hold };
    let taken = control(&psp).pay_crypto(&id, &deposit)?;
    show_payment(&psp, &taken)
}

fn show_payment(psp: &Shared, id: &str) -> Result<HttpResponse, Problem> {
    let payment = psp.find_crypto_payment(id_of(id)?).map_err(ControlError::from)?;
    answer(StatusCode::OK, &payment_views::read(&payment, false))
}

/// `POST /sandbox/payment/{payment_id}/{step}`: moves a payment to another status; 200 with the payment.
///
/// The steps are `confirm`, `send`, `finish`, `part`, `fail`, `refund`, `expire` and `ipn`. The step `ipn` only sends another notification
/// of the current status.
///
/// # Errors
/// 404 for an unknown payment or step. 409 for a step that the current status excludes, and for `ipn` if the client gave no URL.
pub async fn move_payment(path: web::Path<(String, String)>, psp: Shared) -> Result<HttpResponse, Problem> {
    let (id, step) = path.into_inner();
    let status = match step.as_str() {
        "confirm" => Some(PaymentStatus::Confirmed),
        "send" => Some(PaymentStatus::Sending),
        "finish" => Some(PaymentStatus::Finished),
        "part" => Some(PaymentStatus::PartiallyPaid),
        "fail" => Some(PaymentStatus::Failed),
        "refund" => Some(PaymentStatus::Refunded),
        "expire" => Some(PaymentStatus::Expired),
        "ipn" => None,
        _ => return Err(Problem::new(Kind::NotFound, "the step does not exist")),
    };
    match status {
        Some(status) => control(&psp).move_crypto_payment(&id, status)?,
        None => control(&psp).repeat_crypto_ipn(&id)?,
    }
    show_payment(&psp, &id)
}

/// `POST /sandbox/withdrawal/{id}/{step}`: moves a withdrawal to an outcome; 200 with its batch.
///
/// The steps are `finish`, `reject`, `fail`, `stay` and `ipn`. After `stay` a verified withdrawal keeps its status until the tester moves
/// it. The step `ipn` only sends another notification of the current status.
///
/// # Errors
/// 404 for an unknown withdrawal or step. 409 for a step that the current status excludes, and for `ipn` if the client gave no URL.
pub async fn move_withdrawal(path: web::Path<(String, String)>, psp: Shared) -> Result<HttpResponse, Problem> {
    let (id, step) = path.into_inner();
    let outcome = match step.as_str() {
        "finish" => Some(WithdrawalOutcome::Finish),
        "reject" => Some(WithdrawalOutcome::Reject),
        "fail" => Some(WithdrawalOutcome::Fail),
        "stay" => Some(WithdrawalOutcome::Stay),
        "ipn" => None,
        _ => return Err(Problem::new(Kind::NotFound, "the step does not exist")),
    };
    match outcome {
        Some(outcome) => control(&psp).move_crypto_withdrawal(&id, outcome)?,
        None => control(&psp).repeat_crypto_ipn(&id)?,
    }
    let store = psp.read();
    let id = id_of(&id)?;
    let batch = store.books().crypto().find_batch(id).ok_or(ControlError::NotFound("the withdrawal"))?;
    let rows: Vec<_> = batch.withdrawals.iter().map(|one| withdrawal_views::read(batch, one)).collect();
    answer(StatusCode::OK, &json!({ "id": batch.id.to_string(), "withdrawals": serde_json::to_value(rows).ok() }))
}

/// `PUT /sandbox/crypto/settings`: changes settings; 200 with all settings. Absent fields keep their values.
///
/// # Errors
/// 400 for an unknown field or an invalid value.
pub async fn settings(payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: Map<String, Value> = read(payload).await?;
    let refuse = |error: serde_json::Error| Problem::violation(Kind::InvalidRequest, "body", &error.to_string(), "");
    let mut all = serde_json::to_value(psp.crypto.settings()).map_err(refuse)?;
    if let Some(fields) = all.as_object_mut() {
        fields.extend(body);
    }
    let settings: Settings = serde_json::from_value(all).map_err(refuse)?;
    control(&psp).set_crypto_settings(settings);
    answer(StatusCode::OK, &psp.crypto.settings())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CoinBody {
    price: Option<Value>,
    min_deposit: Option<Value>,
    min_payout: Option<Value>,
    payout_fee: Option<Value>,
    balance: Option<Value>,
    enabled: Option<bool>,
    priced: Option<bool>,
}

/// `PUT /sandbox/crypto/coins/{code}` `{price?, min_deposit?, min_payout?, payout_fee?, balance?, enabled?, priced?}`: changes values of a
/// coin; 200 with all values of the coin. Absent fields keep their values.
///
/// # Errors
/// 404 for an unknown coin, 400 for a value that is not an amount and for a price of zero.
pub async fn coin(code: web::Path<String>, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    let body: CoinBody = read(payload).await?;
    let values = CoinValues {
        price: text(body.price),
        min_deposit: text(body.min_deposit),
        min_payout: text(body.min_payout),
        payout_fee: text(body.payout_fee),
        balance: text(body.balance),
        enabled: body.enabled,
        priced: body.priced,
    };
    answer(StatusCode::OK, &control(&psp).set_crypto_coin(&code, &values)?)
}
