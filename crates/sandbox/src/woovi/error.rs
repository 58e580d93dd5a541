//! Refusals in the form of Woovi's API: `{"error":"text"}`, or a list of errors if the `AppID` (the client's credential) is wrong.

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use serde_json::json;

use crate::{pix::body::BodyError, psp::StoreError};

/// A refusal in the form of Woovi's API.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct WooviError {
    status: StatusCode,
    message: String,
    /// The header `Allow`, only for a 405.
    allow: Option<&'static str>,
}

impl WooviError {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), allow: None }
    }

    /// Returns a 400, the status of nearly every refusal.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Returns the 400 for an unknown id. `object` is the kind of the object, such as `Charge`.
    pub fn not_found(object: &str) -> Self {
        Self::refused(format!("{object} not found"))
    }

    /// Returns the 401 for a missing or wrong `AppID`.
    pub fn app_id() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "appID inválido")
    }

    /// Returns the 404 for a path that does not exist.
    pub fn no_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not Found")
    }

    /// Returns the 429 for too many requests.
    pub fn too_many() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests")
    }

    /// Returns a 500, for a failure of the simulator itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// Returns a 405. `allow` lists the permitted methods.
    pub fn method_not_allowed(allow: &'static str) -> Self {
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed") }
    }
}

impl From<StoreError> for WooviError {
    fn from(error: StoreError) -> Self {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "change could not be recorded; the request fails");
        Self::internal("Internal server error")
    }
}

impl From<BodyError> for WooviError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
            BodyError::Broken(_) => Self::refused(error.to_string()),
        }
    }
}

impl ResponseError for WooviError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let body = if self.status == StatusCode::UNAUTHORIZED {
            json!({ "data": null, "errors": [{ "message": self.message }] })
        } else {
            json!({ "error": self.message })
        };
        let mut answer = HttpResponse::build(self.status);
        if let Some(allow) = self.allow {
            answer.insert_header((header::ALLOW, allow));
        }
        answer.content_type("application/json; charset=utf-8").body(body.to_string())
    }
}
