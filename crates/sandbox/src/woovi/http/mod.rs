//! The endpoints of Woovi's API, under `/woovi/api/v1/`.

pub mod account;
pub mod charge_list;
pub mod charges;
pub mod disputes;
pub mod payments;
pub mod refunds;
pub mod transactions;
pub mod webhooks;

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, http::header, web};
use serde_json::Value;

use super::error::WooviError;
use crate::{psp::Psp, requests::Operation};

/// The institution, shared by handlers.
pub type Shared = web::Data<Arc<Psp>>;

/// Admits a request with the `AppID`, and counts the request under `operation`.
///
/// # Errors
/// 401 for a missing or wrong `AppID`. The header `Authorization` is the `AppID` alone; with a scheme such as `Bearer` it is wrong.
pub fn admit(psp: &Psp, request: &HttpRequest, operation: Operation) -> Result<(), WooviError> {
    let value = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if value != Some(psp.woovi.keys.app_id.as_str()) {
        return Err(WooviError::app_id());
    }
    psp.requests.count(operation);
    Ok(())
}

/// Returns a 200 with a JSON body.
#[must_use]
pub fn json(body: &Value) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json; charset=utf-8").body(body.to_string())
}
