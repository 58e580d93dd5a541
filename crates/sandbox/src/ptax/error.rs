//! The refusals of the PTAX service: JSON between `/*` and `*/`, as Olinda answers.

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use serde_json::json;

/// A refusal of the PTAX service.
#[derive(Debug, thiserror::Error)]
pub enum PtaxError {
    /// The request is not valid.
    #[error("{0}")]
    Invalid(&'static str),
    /// The service failed.
    #[error("Erro desconhecido")]
    Internal,
    /// Another method than `GET`.
    #[error("Método não permitido")]
    Method,
    /// No such path.
    #[error("Recurso não encontrado")]
    NotFound,
}

impl PtaxError {
    /// Returns the refusal of a method. The service allows only `GET`.
    #[must_use]
    pub const fn method_not_allowed(_allow: &'static str) -> Self {
        Self::Method
    }
}

impl ResponseError for PtaxError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotFound => StatusCode::NOT_FOUND,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let status = self.status_code();
        let body = format!("/*{}*/", json!({ "codigo": status.as_u16(), "mensagem": self.to_string() }));
        HttpResponse::build(status).content_type("text/plain; charset=utf-8").body(body)
    }
}
