//! `GET /charge` of Woovi's API.

use actix_web::{HttpRequest, HttpResponse};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    requests::Operation,
    woovi::{error::WooviError, paging::Query, views::charge},
};

/// The values that the filter `status` accepts.
const STATUSES: [&str; 3] = ["ACTIVE", "COMPLETED", "EXPIRED"];

/// Lists charges by creation, the newest first. Removed charges are absent.
///
/// # Errors
/// 400 for bad parameters.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviChargeList)?;
    let mut query = Query::of(&request)?;
    let page = query.page()?;
    let status = query.take("status");
    if status.as_deref().is_some_and(|status| !STATUSES.contains(&status)) {
        return Err(WooviError::refused("status must be ACTIVE, COMPLETED or EXPIRED"));
    }
    query.conclude()?;
    psp.settle_due()?;
    let now = psp.clock.now();
    let store = psp.read();
    let books = store.books();
    let mut found: Vec<_> = books
        .cobs_between(Timestamp::MIN, Timestamp::MAX)
        .map(|(_, cob)| cob)
        .filter(|cob| page.has(cob.created_at))
        .filter(|cob| charge::status(cob, now).is_some_and(|found| status.as_deref().is_none_or(|only| only == found)))
        .collect();
    found.reverse();
    let (rows, info) = page.cut(found.into_iter());
    let charges: Vec<Value> = rows.into_iter().map(|cob| charge::charge(&psp, books, cob)).collect();
    Ok(answer(&json!({ "pageInfo": info, "charges": charges })))
}
