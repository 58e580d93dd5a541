//! `/transaction` of Woovi's API: received Pix, sent Pix, and the returns of both.

use actix_web::{HttpRequest, HttpResponse, web};
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    requests::Operation,
    woovi::{charges, error::WooviError, ids, paging::Query, transactions, views::pix},
};

/// `GET /transaction?charge=&type=`: transactions, the newest first. Both filters are optional; `charge` is any id
/// of a charge.
///
/// # Errors
/// 400 for bad parameters and an unknown charge.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviTransactionList)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    let charge = query.take("charge");
    let kind = query.take("type").map(transactions::checked_kind).transpose()?;
    query.conclude()?;
    let store = psp.read();
    let books = store.books();
    let cob = charge.map(|id| charges::find_any(books, &id)).transpose()?;
    let mut found = transactions::newest(books, cob);
    found.retain(|row| page.has(row.at()) && kind.as_deref().is_none_or(|kind| row.kind() == kind));
    let (rows, info) = page.cut(found.into_iter());
    let transactions: Vec<Value> = rows.into_iter().map(|row| row.view(&psp, books)).collect();
    Ok(answer(&json!({ "status": "OK", "pageInfo": info, "transactions": transactions })))
}

/// `GET /transaction/{id}`: a received Pix by its end-to-end id, or the return of a sent Pix by its `rtrId`. Both are also found by their
/// `globalID`.
///
/// # Errors
/// 400 for an unknown transaction.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviTransactionRead)?;
    let store = psp.read();
    let books = store.books();
    let end_to_end_id = ids::local("PixTransaction", &id).unwrap_or_else(|| id.to_string());
    let received = books.find_payment(&end_to_end_id).map(|payment| pix::pix(&psp, books, payment));
    let returned = || {
        let (sent, back) = books.sends().find_return(&end_to_end_id)?;
        Some(pix::sent_return(sent, back))
    };
    let transaction = received.or_else(returned).ok_or_else(|| WooviError::not_found("Transaction"))?;
    Ok(answer(&json!({ "transaction": transaction })))
}
