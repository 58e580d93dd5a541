//! `/charge` and `/charge/{id}` of Woovi's API: create, read, prolong and remove charges.

use actix_web::{HttpRequest, HttpResponse, web};
use cais_domain::document::Document;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Shared, admit, json as answer};
use crate::{
    psp::Psp,
    requests::Operation,
    state::cob::AdditionalInfo,
    woovi::{
        charges::{self, ChargeOrder},
        error::WooviError,
        fields::{Fields, MAX_COMMENT},
        paging::Query,
        state::charge::Customer,
        views::charge,
    },
};

/// The default time to pay a charge, in seconds.
const DEFAULT_EXPIRY_S: i32 = 86_400;

/// The limits of `additionalInfo`, as in the API Pix: characters of an item's key, characters of an item's value, number of items.
const MAX_INFO: (usize, usize, usize) = (50, 200, 50);

/// `POST /charge?return_existing=`: 200 with the charge.
///
/// # Errors
/// 400 for a bad body, and for a used `correlationID`. With `return_existing=true`, a used `correlationID` is refused only if its charge
/// was removed.
pub async fn create(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviChargeCreate)?;
    let mut query = Query::of(&request)?;
    let returns_existing = query.flag("return_existing")?;
    query.conclude()?;
    let order = order(&psp, Fields::of_body(&request, payload).await?, returns_existing)?;
    psp.settle_due()?;
    let txid = psp.create_charge(order)?;
    let store = psp.read();
    let cob = charges::find(store.books(), &txid)?;
    let view = charge::charge(&psp, store.books(), cob);
    let body = json!({ "correlationID": view.get("correlationID"), "brCode": view.get("brCode"), "charge": view });
    Ok(answer(&body))
}

fn order(psp: &Psp, mut body: Fields, returns_existing: bool) -> Result<ChargeOrder, WooviError> {
    let correlation_id = body.correlation_id()?;
    let amount = body.required_cents("value")?;
    let comment = body.text_of("comment", MAX_COMMENT)?;
    let kind = body.text("type")?;
    if kind.as_deref().is_some_and(|kind| kind != "DYNAMIC") {
        return Err(WooviError::refused("type must be DYNAMIC, the only type that the sandbox serves"));
    }
    let expires_in_s = expiry(psp.clock.now(), &mut body)?.unwrap_or(DEFAULT_EXPIRY_S);
    let customer = body.take("customer").map(customer).transpose()?;
    let info = body.list("additionalInfo")?.into_iter().map(info).collect::<Result<Box<[_]>, _>>()?;
    if info.len() > MAX_INFO.2 {
        return Err(WooviError::refused("additionalInfo must have at most 50 items"));
    }
    body.conclude()?;
    Ok(ChargeOrder { correlation_id, amount, comment, expires_in_s, customer, info, returns_existing })
}

/// Returns the seconds until the expiry, from `expiresIn` or `expiresDate`; `None` if both are absent.
fn expiry(now: Timestamp, body: &mut Fields) -> Result<Option<i32>, WooviError> {
    let seconds = match (body.take("expiresIn"), until(body)?) {
        (Some(_), Some(_)) => return Err(WooviError::refused("expiresIn excludes expiresDate")),
        (Some(value), None) => {
            Some(value.as_i64().ok_or_else(|| WooviError::refused("expiresIn must be an integer in seconds"))?)
        }
        (None, Some(until)) => Some(now.duration_until(until).as_secs()),
        (None, None) => None,
    };
    seconds.map(charges::expiry).transpose()
}

fn until(body: &mut Fields) -> Result<Option<Timestamp>, WooviError> {
    let text = body.text("expiresDate")?;
    let parsed = text.map(|text| text.parse::<Timestamp>()).transpose();
    parsed.map_err(|_| WooviError::refused("expiresDate must be an instant of ISO 8601, such as 2026-01-31T12:00:00Z"))
}

/// Reads a customer. The name is required, and at least one of tax number, e-mail address and telephone number.
fn customer(value: Value) -> Result<Customer, WooviError> {
    let mut fields = Fields::of_value("customer", value)?;
    let name = fields.required_text("name")?;
    let tax_id = fields.text("taxID")?.map(|text| Document::parse(&text)).transpose();
    let tax_id = tax_id.map_err(|_| WooviError::refused("customer.taxID must be a CPF or CNPJ"))?;
    let customer = Customer {
        name,
        tax_id: tax_id.map(|document| document.as_str().into()),
        email: fields.text("email")?,
        phone: fields.text("phone")?,
        correlation_id: fields.text("correlationID")?,
    };
    fields.conclude()?;
    if customer.tax_id.is_none() && customer.email.is_none() && customer.phone.is_none() {
        return Err(WooviError::refused("customer must have taxID, email or phone beside its name"));
    }
    Ok(customer)
}

fn info(value: Value) -> Result<AdditionalInfo, WooviError> {
    let mut fields = Fields::of_value("additionalInfo", value)?;
    let (max_name, max_value, _) = MAX_INFO;
    let missing = || WooviError::refused("additionalInfo must have items with key and value");
    let nome = fields.text_of("key", max_name)?.ok_or_else(missing)?;
    let valor = fields.text_of("value", max_value)?.ok_or_else(missing)?;
    fields.conclude()?;
    Ok(AdditionalInfo { nome, valor })
}

/// `GET /charge/{id}` by `correlationID`, `transactionID` or `globalID`.
///
/// # Errors
/// 400 for an unknown or removed charge.
pub async fn get(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviChargeRead)?;
    psp.settle_due()?;
    show(&psp, &id)
}

fn show(psp: &Psp, id: &str) -> Result<HttpResponse, WooviError> {
    let store = psp.read();
    let cob = charges::find(store.books(), id)?;
    Ok(answer(&json!({ "charge": charge::charge(psp, store.books(), cob) })))
}

/// `PATCH /charge/{id}` `{expiresDate}`: sets the expiry; 200 with the charge.
///
/// # Errors
/// 400 for a date that cannot be read or is less than five minutes ahead, and for an unknown, removed or paid charge.
pub async fn patch(
    request: HttpRequest,
    id: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviChargeRevise)?;
    let mut body = Fields::of_body(&request, payload).await?;
    let until = until(&mut body)?.ok_or_else(|| WooviError::refused("expiresDate is required"))?;
    body.conclude()?;
    psp.prolong_charge(&id, until)?;
    show(&psp, &id)
}

/// `DELETE /charge/{id}`: removes the charge; 200 with the id of the path.
///
/// # Errors
/// 400 for an unknown, removed or paid charge.
pub async fn delete(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, WooviError> {
    admit(&psp, &request, Operation::WooviChargeRevise)?;
    psp.remove_charge(&id)?;
    Ok(answer(&json!({ "status": "OK", "id": *id })))
}
