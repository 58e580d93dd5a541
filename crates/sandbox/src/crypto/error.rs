//! The processor's refusals: `{"status":false,"statusCode":400,"code":"…","message":"…"}`.

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use serde_json::{Value, json};

use crate::{
    pix::{body::BodyError, problem::Problem},
    psp::StoreError,
};

/// A refusal in the processor's form.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CryptoError {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// `current_values`, only in the refusal of a withdrawal above the balance: the requested amount and the balance.
    current_values: Option<Value>,
    /// The header `Allow`, only in a refusal of the method.
    allow: Option<&'static str>,
}

impl CryptoError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), current_values: None, allow: None }
    }

    /// Returns the refusal of a missing, unknown or invalid field.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST_PARAMS", message)
    }

    /// Returns a refusal with the code `BAD_REQUEST`.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
    }

    /// Returns the refusal of a withdrawal because of its address, its amount or the balance.
    pub fn withdrawal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_CREATE_WITHDRAWAL_REQUEST", message)
    }

    /// Returns the refusal of a withdrawal above the balance.
    pub fn not_covered(coin: &str, requested: &str, balance: &str) -> Self {
        let values = json!({ coin: { "requested": requested, "actualBalance": balance } });
        let refusal = Self::withdrawal(format!("Insufficient balance in {coin}"));
        Self { current_values: Some(values), ..refusal }
    }

    /// Returns the refusal of a payment below the minimum.
    pub fn below_minimum(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "AMOUNT_MINIMAL_ERROR", message)
    }

    /// Returns the refusal of a currency that is unknown or off.
    pub fn currency(code: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "CURRENCY_UNAVAILABLE", format!("Currency {code} is currently unavailable"))
    }

    /// Returns the refusal of a missing or wrong API key.
    pub fn api_key() -> Self {
        Self::new(StatusCode::FORBIDDEN, "INVALID_API_KEY", "Invalid api key")
    }

    /// Returns the refusal of a feature that the account lacks.
    pub fn not_allowed() -> Self {
        Self::new(StatusCode::FORBIDDEN, "ENDPOINT_NOT_ALLOWED", "Access denied | Invalid IP or the feature is off")
    }

    /// Returns the refusal of a missing, forged or expired JWT.
    pub fn unauthorized() -> Self {
        let message = "Authorization header is empty or expired (Bearer JWTtoken is required)";
        Self::new(StatusCode::UNAUTHORIZED, "AUTH_REQUIRED", message)
    }

    /// Returns the refusal of an unknown resource.
    pub fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("{what} not found"))
    }

    /// Returns a failure of the processor itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", message)
    }

    /// Returns the refusal of a request's method. `allow` lists the permitted methods.
    pub fn method_not_allowed(allow: &'static str) -> Self {
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, "BAD_REQUEST", "Method not allowed");
        Self { allow: Some(allow), ..refusal }
    }
}

impl CryptoError {
    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }
}

impl From<StoreError> for CryptoError {
    fn from(error: StoreError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<BodyError> for CryptoError {
    fn from(error: BodyError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<Problem> for CryptoError {
    fn from(error: Problem) -> Self {
        Self::internal(error.to_string())
    }
}

impl ResponseError for CryptoError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut body = json!({
            "status": false,
            "statusCode": self.status.as_u16(),
            "code": self.code,
            "message": self.message,
        });
        if let (Some(values), Some(fields)) = (&self.current_values, body.as_object_mut()) {
            fields.insert("current_values".to_owned(), values.clone());
        }
        let mut answer = HttpResponse::build(self.status);
        if let Some(allow) = self.allow {
            answer.insert_header((header::ALLOW, allow));
        }
        answer.content_type("application/json").body(body.to_string())
    }
}
