//! `/charge/{id}/refund` and `/refund` of Woovi's API: returns of received Pix.

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    requests::Operation,
    woovi::{
        charges,
        error::WooviError,
        fields::{Fields, MAX_COMMENT},
        paging::Query,
        refunds::{self, RefundOrder},
        views::pix,
    },
};

fn order(body: &mut Fields) -> Result<RefundOrder, WooviError> {
    Ok(RefundOrder {
        correlation_id: body.correlation_id()?,
        amount: body.cents("value")?,
        comment: body.text_of("comment", MAX_COMMENT)?,
    })
}

/// `POST /charge/{id}/refund` `{correlationID, value?, comment?}`: 200 with the refund.
///
/// # Errors
/// 400 for a bad body, a used `correlationID`, and an unknown or unpaid charge. Also 400 for an amount above the balance, or above the
/// part that can still be returned.
pub async fn create_for_charge(
    request: HttpRequest,
    id: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviRefundCreate)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let order = order(&mut body)?;
    body.conclude()?;
    let refund = psp.refund_charge(&id, order)?;
    Ok(answer(&json!({ "refund": pix::charge_refund(&refund) })))
}

/// `GET /charge/{id}/refund`: the refunds that clients requested for a charge. They are grouped by Pix; within a Pix the oldest is first.
///
/// # Errors
/// 400 for an unknown charge.
pub async fn of_charge(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviRefundRead)?;
    psp.settle_due()?;
    let store = psp.read();
    let books = store.books();
    let cob = charges::find_any(books, &id)?;
    let all = books.payments_of(cob).flat_map(|payment| &payment.refunds);
    let refunds: Vec<Value> = all.filter(|refund| refunds::is_requested(refund)).map(pix::charge_refund).collect();
    Ok(answer(&json!({ "refunds": refunds })))
}

/// `POST /refund` `{transactionEndToEndId, correlationID, value, comment?}`: 200 with the refund.
///
/// # Errors
/// The errors of [`create_for_charge`], and 400 for an unknown Pix.
pub async fn create(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviRefundCreate)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let end_to_end_id = body.required_text("transactionEndToEndId")?;
    let order = order(&mut body)?;
    body.conclude()?;
    if order.amount.is_none() {
        return Err(WooviError::refused("value is required"));
    }
    let refund = psp.refund_pix(&end_to_end_id, order)?;
    Ok(answer(&json!({ "refund": pix::refund(&refund) })))
}

/// `GET /refund/{id}` by `correlationID`, `refundId` or `returnIdentification` (`rtrId`).
///
/// # Errors
/// 400 for an unknown refund.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviRefundRead)?;
    psp.settle_due()?;
    let store = psp.read();
    let (_, refund) = refunds::find(store.books(), &id).ok_or_else(|| WooviError::not_found("Refund"))?;
    Ok(answer(&json!({ "pixTransactionRefund": pix::refund(refund) })))
}

/// `GET /refund`: the refunds that clients requested, the newest first.
///
/// # Errors
/// 400 for bad parameters.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviRefundList)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    query.conclude()?;
    psp.settle_due()?;
    let store = psp.read();
    let all = refunds::all(store.books()).into_iter().filter(|(_, refund)| page.has(refund.requested_at));
    let (rows, info) = page.cut(all);
    let refunds: Vec<Value> = rows.into_iter().map(|(_, refund)| pix::refund(refund)).collect();
    Ok(answer(&json!({ "pageInfo": info, "refunds": refunds })))
}
