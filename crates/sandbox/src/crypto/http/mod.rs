//! The endpoints of the processor under `/v1/`.

pub mod account;
pub mod payment_list;
pub mod payment_views;
pub mod payments;
pub mod payout_list;
pub mod payouts;
pub mod rates;
pub mod withdrawal_views;

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, http::header, web};
use serde::Serialize;

use super::{error::CryptoError, jwt};
use crate::{psp::Psp, requests::Operation};

/// The first part of every path.
pub const PATH: &str = "/v1/";

/// The simulator, shared by all handlers.
pub type Shared = web::Data<Arc<Psp>>;

/// The header of the API key.
const API_KEY: &str = "x-api-key";

/// Checks the API key of a request, and counts the request if the key is correct.
///
/// # Errors
/// 403 for a missing or wrong key.
pub fn admit(psp: &Psp, request: &HttpRequest, operation: Operation) -> Result<(), CryptoError> {
    let key = request.headers().get(API_KEY).and_then(|value| value.to_str().ok());
    if key != Some(psp.crypto.keys.api_key.as_str()) {
        return Err(CryptoError::api_key());
    }
    psp.requests.count(operation);
    Ok(())
}

/// Checks the API key and the JWT of a request. The request is counted if the key is correct, even with a wrong JWT.
///
/// # Errors
/// 403 for a missing or wrong key, 401 for a missing, forged or expired JWT.
pub fn admit_with_token(psp: &Psp, request: &HttpRequest, operation: Operation) -> Result<(), CryptoError> {
    admit(psp, request, operation)?;
    let value = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token =
        value.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let is_valid = token.is_some_and(|(_, token)| jwt::is_valid(&psp.crypto.keys.jwt, token.trim(), psp.clock.now()));
    if is_valid { Ok(()) } else { Err(CryptoError::unauthorized()) }
}

/// Returns a JSON answer.
///
/// # Errors
/// 500 if the body cannot be serialized. That would be a defect of the simulator.
pub fn json(status: StatusCode, body: &impl Serialize) -> Result<HttpResponse, CryptoError> {
    let bytes = serde_json::to_vec(body).map_err(|error| CryptoError::internal(error.to_string()))?;
    Ok(HttpResponse::build(status).content_type("application/json; charset=utf-8").body(bytes))
}

/// Returns an answer with the text `OK` and the content type `text/html`.
#[must_use]
pub fn ok_text() -> HttpResponse {
    HttpResponse::Ok().content_type("text/html; charset=utf-8").body("OK")
}

/// Parses an id of a path or a query. `what` is the kind of the object, for the error text.
///
/// # Errors
/// 400 for an id that is not a number.
pub fn parse_id(text: &str, what: &str) -> Result<u64, CryptoError> {
    text.parse().map_err(|_| CryptoError::invalid(format!("{what} id must be a number")))
}
