//! The login: `POST /v1/auth`.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde_json::json;

use super::{Shared, json as answer};
use crate::{
    crypto::{error::CryptoError, fields::Fields, jwt},
    requests::Operation,
};

/// `POST /v1/auth` `{email, password}`: a JWT. No API key is needed, and both values are case-sensitive.
///
/// # Errors
/// 401 for a wrong login, 400 for missing or unknown fields.
pub async fn login(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, CryptoError> {
    psp.requests.count(Operation::CryptoLogin);
    let mut body = Fields::of_body(&request, payload).await?;
    let (email, password) = (body.required_text("email")?, body.required_text("password")?);
    body.conclude()?;
    let keys = &psp.crypto.keys;
    if email != keys.email || password != keys.password {
        return Err(CryptoError::unauthorized());
    }
    let token = jwt::issue(&keys.jwt, &email, psp.clock.now(), psp.crypto.settings().jwt_ttl_s);
    answer(StatusCode::OK, &json!({ "token": token }))
}
