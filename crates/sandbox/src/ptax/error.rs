//! The refusals of the PTAX service: JSON between `/*` and `*/`, as in Olinda, the Central Bank's platform for such services.

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use serde_json::json;

/// A refusal of the PTAX service.
#[derive(Debug, thiserror::Error)]
pub enum PtaxError {
    /// The request is not valid.
    #[error("{0}")]
    Invalid(&'static str),
    /// An internal error, set by the tester as a fault.
    #[error("Erro desconhecido")]
    Internal,
    /// The method is not `GET`.
    #[error("Método não permitido")]
    Method,
    /// The path calls no known function.
    #[error("Recurso não encontrado")]
    NotFound,
}

impl PtaxError {
    /// Returns the refusal of every method other than `GET`. The argument has no effect: the error types of the other APIs need it.
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
