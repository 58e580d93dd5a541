//! `/payment` of Woovi's API: request, approve, read and list payments to Pix keys.

use actix_web::{HttpRequest, HttpResponse, web};
use cais_domain::pix_key::PixKey;
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    faults,
    psp::Psp,
    requests::Operation,
    woovi::{
        error::WooviError,
        fields::{Fields, MAX_COMMENT},
        paging::Query,
        payments::PaymentOrder,
        views::payment::{Payment, alias_type},
    },
};

/// `POST /payment`: 200 with the payment in the status `CREATED`. With `autoApprove` the payment is also approved; then the status is
/// `APPROVED`.
///
/// # Errors
/// 400 for a bad body and a used `correlationID`. With `autoApprove` also 400 for an amount above the balance; the payment then stays
/// `CREATED`.
pub async fn create(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviPaymentCreate)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let is_approved = body.flag("autoApprove")?.unwrap_or_default();
    let order = order(body)?;
    let id = order.correlation_id.clone();
    psp.request_payment(order)?;
    if is_approved {
        return approved(&psp, &request, &id);
    }
    show(&psp, &id)
}

fn order(mut body: Fields) -> Result<PaymentOrder, WooviError> {
    let correlation_id = body.correlation_id()?;
    let kind = body.text("type")?;
    if kind.as_deref().is_some_and(|kind| kind != "PIX_KEY") {
        return Err(WooviError::refused("type must be PIX_KEY, the only type that the sandbox serves"));
    }
    let amount = body.required_cents("value")?;
    let alias = body.required_text("destinationAlias")?;
    let kind = body.required_text("destinationAliasType")?;
    let comment = body.text_of("comment", MAX_COMMENT)?;
    // These fields are accepted without effect.
    let (_lookup, _metadata) = (body.text("pixKeyEndToEndId")?, body.take("metadata"));
    body.conclude()?;
    let invalid = || WooviError::refused("Chave pix inválida");
    // A key that is not in its normal form is refused, because the directory of Pix keys has only normal forms.
    let key = PixKey::parse(&alias).ok().filter(|key| key.as_str() == &*alias).ok_or_else(invalid)?;
    if alias_type(key.as_str()) != &*kind {
        return Err(invalid());
    }
    Ok(PaymentOrder { correlation_id, amount, key, comment })
}

fn approved(psp: &Psp, request: &HttpRequest, id: &str) -> Result<HttpResponse, WooviError> {
    let (sent, loses_reply) = psp.approve_payment(id)?;
    if loses_reply {
        faults::close_connection(request);
    }
    let store = psp.read();
    // `sent` is the Pix as it was accepted. So the status is `APPROVED`, even if the Pix has been settled since then.
    let payment = Payment { request: store.books().woovi().find_payment(id), sent: Some(&sent) };
    Ok(answer(&payment.view()))
}

fn show(psp: &Psp, id: &str) -> Result<HttpResponse, WooviError> {
    let store = psp.read();
    let payment = Payment::find(store.books(), id).ok_or_else(|| WooviError::not_found("Payment"))?;
    Ok(answer(&payment.view()))
}

/// `POST /payment/approve` `{correlationID}`: 200 with the payment in the status `APPROVED`, and its transaction.
///
/// # Errors
/// 400 for an unknown, removed or already approved payment, and for an amount above the balance.
pub async fn approve(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviPaymentApprove)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let id = body.correlation_id()?;
    body.conclude()?;
    approved(&psp, &request, &id)
}

/// `GET /payment/{correlationID}`: the payment in its current status.
///
/// # Errors
/// 400 for an unknown or removed payment.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviPaymentRead)?;
    psp.settle_due()?;
    show(&psp, &id)
}

/// `GET /payment`: payments by the instant of their request, the newest first.
///
/// # Errors
/// 400 for bad parameters.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviPaymentList)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    query.conclude()?;
    psp.settle_due()?;
    let store = psp.read();
    let all = Payment::all(store.books()).into_iter().filter(|payment| page.has(payment.created_at()));
    let (rows, info) = page.cut(all);
    let payments: Vec<Value> = rows.into_iter().map(Payment::view).collect();
    Ok(answer(&json!({ "status": "OK", "pageInfo": info, "payments": payments })))
}
