//! `/transaction`: received Pix.

use actix_web::{HttpRequest, HttpResponse, web};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    requests::Operation,
    woovi::{charges, error::WooviError, ids, paging::Query, views::pix},
};

/// `GET /transaction?charge=`: received Pix by arrival, the newest first. `charge` is a `correlationID`.
///
/// # Errors
/// 400 for bad parameters and an unknown charge.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviTransactionList)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    let charge = query.take("charge");
    query.conclude()?;
    let store = psp.read();
    let books = store.books();
    let txid = charge.map(|id| charges::find_any(books, &id).map(|cob| cob.txid.clone())).transpose()?;
    let mut found: Vec<_> = match &txid {
        Some(txid) => books.find_cob(txid).into_iter().flat_map(|(_, cob)| books.payments_of(cob)).collect(),
        None => books.payments_between(Timestamp::MIN, Timestamp::MAX).collect(),
    };
    found.retain(|payment| page.has(payment.paid_at));
    found.reverse();
    let (rows, info) = page.cut(found.into_iter());
    let transactions: Vec<Value> = rows.into_iter().map(|payment| pix::pix(&psp, books, payment)).collect();
    Ok(answer(&json!({ "status": "OK", "pageInfo": info, "transactions": transactions })))
}

/// `GET /transaction/{id}` by end-to-end id or `globalID`.
///
/// # Errors
/// 400 for an unknown Pix.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviTransactionRead)?;
    let store = psp.read();
    let books = store.books();
    let of_global = || books.find_payment(&ids::local("PixTransaction", &id)?);
    let payment = books.find_payment(&id).or_else(of_global).ok_or_else(|| WooviError::not_found("Transaction"))?;
    Ok(answer(&json!({ "transaction": pix::pix(&psp, books, payment) })))
}
