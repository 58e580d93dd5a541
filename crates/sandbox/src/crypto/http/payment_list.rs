//! `GET /v1/payment/`.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::json;

use super::{Shared, admit_with_token, json as answer, payment_views as views};
use crate::{
    crypto::{error::CryptoError, fields::Fields, state::payment::Payment},
    requests::Operation,
};

/// The default page size.
pub(super) const DEFAULT_LIMIT: usize = 10;

/// The largest page size.
pub(super) const MAX_LIMIT: usize = 500;

/// The last page that a request may name.
pub(super) const MAX_PAGE: usize = 1_000_000;

/// `GET /v1/payment/`: a page of the payments in the order of their creation, by default the newest first. The first page is page 0.
///
/// # Errors
/// 403 without the API key, 401 without a JWT, 400 for unknown or invalid parameters, 500 for an `orderBy` other than `asc` and `desc`.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit_with_token(&psp, &request, Operation::CryptoPaymentList)?;
    let mut query = Fields::of_query(&request)?;
    let limit = query.whole("limit", 1..=MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
    let page = query.whole("page", 0..=MAX_PAGE)?.unwrap_or(0);
    // `sortBy` and `invoiceId` have no effect: payments are always sorted by creation, and invoices are not simulated.
    let (_sort, _invoice) = (query.text("sortBy")?, query.text("invoiceId")?);
    let is_ascending = match query.text("orderBy")?.as_deref() {
        None | Some("desc") => false,
        Some("asc") => true,
        Some(_) => return Err(CryptoError::internal("Internal error")),
    };
    let (from, to) = (instant(query.text("dateFrom")?)?, instant(query.text("dateTo")?)?);
    query.conclude()?;
    psp.settle_due()?;
    let store = psp.read();
    let is_within = |payment: &&Payment| {
        from.is_none_or(|from| payment.created_at >= from) && to.is_none_or(|to| payment.created_at <= to)
    };
    let mut found: Vec<&Payment> = store.books().crypto().payments().values().filter(is_within).collect();
    if !is_ascending {
        found.reverse();
    }
    let as_text = psp.crypto.settings().pay_amount_as_text;
    let rows: Vec<_> = found.iter().skip(page.saturating_mul(limit)).take(limit).collect();
    let data: Vec<_> = rows.iter().map(|payment| views::read(payment, as_text)).collect();
    let total = found.len();
    let data = serde_json::to_value(data).map_err(|error| CryptoError::internal(error.to_string()))?;
    let pages = total.div_ceil(limit);
    let body = json!({ "data": data, "limit": limit, "page": page, "pagesCount": pages, "total": total });
    answer(StatusCode::OK, &body)
}

/// Parses an instant or a date. A date means its first instant in UTC.
pub(super) fn instant(text: Option<String>) -> Result<Option<Timestamp>, CryptoError> {
    let Some(text) = text else { return Ok(None) };
    let of_date = |text: &str| text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp());
    let instant = text.parse().ok().or_else(|| of_date(&text));
    instant.map(Some).ok_or_else(|| CryptoError::invalid("the date is not valid"))
}
