//! Refusals in Efí's forms: `nome` with `mensagem`, the same with `erros` for schema violations, token errors as in RFC 6750, and problems
//! of the API Pix.

use std::fmt;

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use serde::Serialize;
use serde_json::json;

use super::schema::SchemaError;
use crate::{
    pix::{body::BodyError, oauth::TokenError, problem::Problem},
    psp::StoreError,
};

/// Efí's `nome` of the refusal of a body or query that violates the schema.
pub const INVALID_JSON: &str = "json_invalido";

/// A refusal in one of Efí's forms.
#[derive(Debug)]
pub enum Refusal {
    /// A refusal with `nome` and `mensagem`.
    Named {
        /// The status.
        status: StatusCode,
        /// `nome`, a code that clients compare.
        name: &'static str,
        /// `mensagem`, for people.
        message: String,
        /// The header `Allow` of a 405: the allowed methods.
        allow: Option<&'static str>,
    },
    /// 400: the request violates the schema.
    Schema(Vec<SchemaError>),
    /// 401 or 403: the token is missing or unknown, has expired, or lacks a scope.
    Token(TokenError),
    /// A refusal in the form of the API Pix, for reads of sent Pix and for all requests about infractions.
    Problem(Problem),
}

#[derive(Serialize)]
struct Named<'a> {
    nome: &'a str,
    mensagem: &'a str,
    #[serde(skip_serializing_if = "<[SchemaError]>::is_empty")]
    erros: &'a [SchemaError],
}

impl Refusal {
    /// Creates a refusal with the code `name`.
    #[must_use]
    pub fn named(status: StatusCode, name: &'static str, message: impl Into<String>) -> Self {
        Self::Named { status, name, message: message.into(), allow: None }
    }

    /// Creates a 500 `erro_aplicacao`.
    #[must_use]
    pub fn application_error(message: impl Into<String>) -> Self {
        Self::named(StatusCode::INTERNAL_SERVER_ERROR, "erro_aplicacao", message)
    }

    /// Creates a 405 with the allowed methods.
    #[must_use]
    pub fn method_not_allowed(allow: &'static str) -> Self {
        Self::Named {
            status: StatusCode::METHOD_NOT_ALLOWED,
            name: "metodo_nao_permitido",
            message: format!("this path allows {allow}"),
            allow: Some(allow),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named { name, message, .. } => write!(f, "{name}: {message}"),
            Self::Schema(errors) => write!(f, "{INVALID_JSON}: {} errors", errors.len()),
            Self::Token(error) => write!(f, "{error}"),
            Self::Problem(problem) => write!(f, "{problem}"),
        }
    }
}

impl ResponseError for Refusal {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Named { status, .. } => *status,
            Self::Schema(_) => StatusCode::BAD_REQUEST,
            Self::Token(TokenError::Missing | TokenError::Unknown) => StatusCode::UNAUTHORIZED,
            Self::Token(TokenError::LacksScope(_)) => StatusCode::FORBIDDEN,
            Self::Problem(problem) => problem.status_code(),
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status_code());
        match self {
            Self::Named { name, message, allow, .. } => {
                if let Some(allow) = allow {
                    response.insert_header((header::ALLOW, *allow));
                }
                response.json(Named { nome: name, mensagem: message, erros: &[] })
            }
            Self::Schema(errors) => {
                let mensagem = "values or types of fields are not valid";
                response.json(Named { nome: INVALID_JSON, mensagem, erros: errors })
            }
            Self::Token(error) => {
                let code = match error {
                    TokenError::Missing | TokenError::Unknown => "invalid_token",
                    TokenError::LacksScope(_) => "insufficient_scope",
                };
                response.insert_header((header::WWW_AUTHENTICATE, format!("Bearer error=\"{code}\"")));
                response.json(json!({ "error": code, "error_description": error.to_string() }))
            }
            Self::Problem(problem) => problem.error_response(),
        }
    }
}

impl From<TokenError> for Refusal {
    fn from(error: TokenError) -> Self {
        Self::Token(error)
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<BodyError> for Refusal {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::named(StatusCode::PAYLOAD_TOO_LARGE, "corpo_muito_grande", error.to_string()),
            BodyError::Broken(_) => Self::named(StatusCode::BAD_REQUEST, INVALID_JSON, error.to_string()),
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "change could not be recorded; the request fails");
        Self::application_error("the request could not be recorded")
    }
}
