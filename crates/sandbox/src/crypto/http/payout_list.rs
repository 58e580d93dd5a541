//! `GET /v1/payout/{id}` and `GET /v1/payout`.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde_json::{Value, json};

use super::{
    Shared, admit, json as answer, parse_id,
    payment_list::{DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE, instant},
    payouts::check_allowed,
    withdrawal_views as views,
};
use crate::{
    crypto::{
        error::CryptoError,
        fields::Fields,
        settings::PayoutShape,
        state::payout::{Batch, Withdrawal},
    },
    requests::Operation,
    wire,
};

/// `GET /v1/payout/{id}`: 200 with the withdrawals of a batch. `id` is the id of the batch or of one of its withdrawals. The setting
/// `payout_shape` determines the shape of the body.
///
/// # Errors
/// 403 without the API key, or while payouts are switched off. 400 for an id that is not a number, 404 for an unknown one.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoPayoutRead)?;
    check_allowed(&psp)?;
    psp.settle_due()?;
    let store = psp.read();
    let batch = store.books().crypto().find_batch(parse_id(&id, "Payout")?);
    let batch = batch.ok_or_else(|| CryptoError::not_found("Payout"))?;
    let rows: Vec<Value> =
        batch.withdrawals.iter().map(|withdrawal| row(batch, withdrawal)).collect::<Result<_, _>>()?;
    let body = match psp.crypto.settings().payout_shape {
        PayoutShape::Array => Value::Array(rows),
        // In this shape the batch has no status, and its id is a number.
        PayoutShape::Withdrawals => {
            json!({ "id": batch.id, "createdAt": wire::instant(batch.created_at), "withdrawals": renamed(rows) })
        }
        PayoutShape::Payouts => json!({ "payouts": rows }),
        PayoutShape::Object => rows.into_iter().next().unwrap_or_default(),
    };
    answer(StatusCode::OK, &body)
}

fn row(batch: &Batch, withdrawal: &Withdrawal) -> Result<Value, CryptoError> {
    let view = views::read(batch, withdrawal);
    serde_json::to_value(view).map_err(|error| CryptoError::internal(error.to_string()))
}

/// Renames the fields of the rows that are instants to camel case, as in some answers of the real API.
fn renamed(rows: Vec<Value>) -> Vec<Value> {
    let names = [("created_at", "createdAt"), ("requested_at", "requestedAt"), ("updated_at", "updatedAt")];
    let rename = |mut row: Value| {
        if let Some(fields) = row.as_object_mut() {
            for (from, to) in names {
                let value = fields.remove(from).unwrap_or_default();
                fields.insert(to.to_owned(), value);
            }
        }
        row
    };
    rows.into_iter().map(rename).collect()
}

/// `GET /v1/payout`: a page of the withdrawals in the order of their creation, by default the newest first. Rows contain
/// `unique_external_id`, but a search by it is refused.
///
/// # Errors
/// 403 without the API key, or while payouts are switched off. 400 for unknown or invalid parameters.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, CryptoError> {
    admit(&psp, &request, Operation::CryptoPayoutList)?;
    check_allowed(&psp)?;
    let mut query = Fields::of_query(&request)?;
    let limit = query.whole("limit", 1..=MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
    let page = query.whole("page", 0..=MAX_PAGE)?.unwrap_or(0);
    let batch_id = query.text("batch_id")?.map(|id| parse_id(&id, "Batch")).transpose()?;
    let status = query.text("status")?.map(|status| Value::String(status.to_uppercase()));
    let (from, to) = (instant(query.text("date_from")?)?, instant(query.text("date_to")?)?);
    let is_ascending = query.text("order")?.is_some_and(|order| order.eq_ignore_ascii_case("asc"));
    // The order by id, by batch and by instant is the same here, so `order_by` has no effect.
    let _order_by = query.text("order_by")?;
    query.conclude()?;
    psp.settle_due()?;
    let store = psp.read();
    let is_within = |batch: &&Batch| {
        batch_id.is_none_or(|id| batch.id == id)
            && from.is_none_or(|from| batch.created_at >= from)
            && to.is_none_or(|to| batch.created_at <= to)
    };
    let batches = store.books().crypto().batches().values().filter(is_within);
    let rows = batches.flat_map(|batch| batch.withdrawals.iter().map(move |withdrawal| row(batch, withdrawal)));
    let mut rows: Vec<Value> = rows.collect::<Result<_, _>>()?;
    rows.retain(|row| status.is_none() || row.get("status") == status.as_ref());
    if !is_ascending {
        rows.reverse();
    }
    let rows: Vec<Value> = rows.into_iter().skip(page.saturating_mul(limit)).take(limit).collect();
    answer(StatusCode::OK, &json!({ "payouts": rows }))
}
