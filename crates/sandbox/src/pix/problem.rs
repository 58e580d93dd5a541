//! Refusals in the form of the API Pix: RFC 7807 `application/problem+json` with `violacoes`.

use std::fmt;

use actix_web::{
    HttpResponse, ResponseError,
    http::{StatusCode, header},
};
use serde::Serialize;

use crate::psp::StoreError;

/// The first part of `type` in every refusal. `type` is only an identifier; no page exists at this address.
const TYPE_PREFIX: &str = "https://pix.bcb.gov.br/api/v2/error/";

/// The largest number of characters of a refused value that a violation shows.
const MAX_ECHO: usize = 200;

/// The largest number of violations in a response. Without this limit, a body of 64 KiB could produce thousands.
const MAX_VIOLATIONS: usize = 50;

/// The error types of this institution: those of the API Pix, those of Efí alone ("Efí only"), and one of the control interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 400 without a more specific type.
    InvalidRequest,
    /// 401: no valid token. The API Pix has no type for this status, so the type of 403 is used.
    Unauthorized,
    /// 403: the token lacks a scope.
    AccessDenied,
    /// 404: unknown path.
    NotFound,
    /// 405.
    MethodNotAllowed,
    /// 413.
    BodyTooLarge,
    /// 415.
    UnsupportedMediaType,
    /// 500.
    InternalError,
    /// 404: no charge has this txid.
    CobNotFound,
    /// 400.
    CobInvalidOperation,
    /// 409 `txid_duplicado`.
    CobDuplicate,
    /// 400.
    CobInvalidQuery,
    /// 404: no charge has this location.
    PayloadNotFound,
    /// 410: the charge can no longer be paid.
    PayloadGone,
    /// 404.
    PixNotFound,
    /// 400.
    PixInvalidQuery,
    /// 404.
    RefundNotFound,
    /// 400.
    RefundInvalid,
    /// 404, Efí only.
    SentNotFound,
    /// 400, Efí only.
    SentInvalidQuery,
    /// 400, Efí only.
    InfractionsInvalidQuery,
    /// 404, Efí only.
    InfractionNotFound,
    /// 400, Efí only: an invalid defense.
    InfractionInvalid,
    /// 409, Efí only: the infraction already has a defense, or was resolved or withdrawn.
    InfractionConflict,
    /// 422, Efí only: the deadline for a defense has passed.
    InfractionTooLate,
    /// 500, Efí only.
    InfractionInternalError,
    /// 404.
    WebhookNotFound,
    /// 400.
    WebhookInvalidOperation,
    /// 400.
    WebhookInvalidQuery,
    /// 409 of the control interface: the object is not in the state that the request needs.
    Conflict,
}

impl Kind {
    /// Returns the last part of `type`, the status and the `title`.
    fn facts(self) -> (&'static str, StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            Self::InvalidRequest => ("RequisicaoInvalida", S::BAD_REQUEST, "Invalid request"),
            Self::Unauthorized => ("AcessoNegado", S::UNAUTHORIZED, "Not authenticated"),
            Self::AccessDenied => ("AcessoNegado", S::FORBIDDEN, "Access denied"),
            Self::NotFound => ("NaoEncontrado", S::NOT_FOUND, "Not found"),
            Self::MethodNotAllowed => ("RequisicaoInvalida", S::METHOD_NOT_ALLOWED, "Method not allowed"),
            Self::BodyTooLarge => ("RequisicaoInvalida", S::PAYLOAD_TOO_LARGE, "Body too large"),
            Self::UnsupportedMediaType => ("RequisicaoInvalida", S::UNSUPPORTED_MEDIA_TYPE, "Unsupported media type"),
            Self::InternalError => ("ErroInternoDoServidor", S::INTERNAL_SERVER_ERROR, "Internal error"),
            Self::CobNotFound => ("CobNaoEncontrado", S::NOT_FOUND, "Charge not found"),
            Self::CobInvalidOperation => ("CobOperacaoInvalida", S::BAD_REQUEST, "Invalid charge"),
            Self::CobDuplicate => ("CobOperacaoInvalida", S::CONFLICT, "Duplicate txid"),
            Self::CobInvalidQuery => ("CobConsultaInvalida", S::BAD_REQUEST, "Invalid query of charges"),
            Self::PayloadNotFound => ("CobPayloadNaoEncontrado", S::NOT_FOUND, "No charge at this location"),
            Self::PayloadGone => ("CobPayloadNaoEncontrado", S::GONE, "The charge can no longer be paid"),
            Self::PixNotFound => ("PixNaoEncontrado", S::NOT_FOUND, "Pix not found"),
            Self::PixInvalidQuery => ("PixConsultaInvalida", S::BAD_REQUEST, "Invalid query of Pix"),
            Self::RefundNotFound => ("PixDevolucaoNaoEncontrada", S::NOT_FOUND, "Return not found"),
            Self::RefundInvalid => ("PixDevolucaoInvalida", S::BAD_REQUEST, "Invalid return"),
            Self::SentNotFound => ("PixEnviadoNaoEncontrado", S::NOT_FOUND, "Sent Pix not found"),
            Self::SentInvalidQuery => ("PixEnviadoConsultaInvalida", S::BAD_REQUEST, "Invalid query of sent Pix"),
            Self::InfractionsInvalidQuery => {
                ("InfracoesConsultaInvalida", S::BAD_REQUEST, "Invalid query of infractions")
            }
            Self::InfractionNotFound => ("InfracaoNaoEncontrada", S::NOT_FOUND, "Infraction not found"),
            Self::InfractionInvalid => ("InfracaoOperacaoInvalida", S::BAD_REQUEST, "Invalid defense"),
            Self::InfractionConflict => ("InfracaoOperacaoInvalida", S::CONFLICT, "The infraction cannot be defended"),
            Self::InfractionTooLate => ("InfracaoOperacaoInvalida", S::UNPROCESSABLE_ENTITY, "The deadline is over"),
            Self::InfractionInternalError => ("InfracaoErroInterno", S::INTERNAL_SERVER_ERROR, "Internal error"),
            Self::WebhookNotFound => ("WebhookNaoEncontrado", S::NOT_FOUND, "Webhook not found"),
            Self::WebhookInvalidOperation => ("WebhookOperacaoInvalida", S::BAD_REQUEST, "Invalid webhook"),
            Self::WebhookInvalidQuery => ("WebhookConsultaInvalida", S::BAD_REQUEST, "Invalid query of webhooks"),
            Self::Conflict => ("RequisicaoInvalida", S::CONFLICT, "Not in this state"),
        }
    }
}

/// A violated rule: an item of `violacoes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The rule, as a text.
    pub razao: String,
    /// The path of the refused property, such as `cob.valor.original`.
    pub propriedade: String,
    /// The refused value, at most 200 characters of it.
    pub valor: String,
}

impl Violation {
    /// Creates a violation for `property`. The violation shows at most the first 200 characters of `value`.
    #[must_use]
    pub fn new(property: impl Into<String>, reason: impl Into<String>, value: &str) -> Self {
        Self { razao: reason.into(), propriedade: property.into(), valor: value.chars().take(MAX_ECHO).collect() }
    }
}

/// A refusal in the form of the API Pix.
#[derive(Debug)]
pub struct Problem(Box<Content>);

#[derive(Debug)]
struct Content {
    kind: Kind,
    detail: String,
    violations: Vec<Violation>,
    allow: Option<&'static str>,
}

#[derive(Serialize)]
struct Body<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
    /// `txid_duplicado` for a duplicate txid, as at Efí. Absent in all other refusals: clients distinguish these by their status.
    #[serde(skip_serializing_if = "Option::is_none")]
    nome: Option<&'static str>,
    #[serde(skip_serializing_if = "<[Violation]>::is_empty")]
    violacoes: &'a [Violation],
}

impl Problem {
    /// Creates a refusal without violations.
    #[must_use]
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self(Box::new(Content { kind, detail: detail.into(), violations: Vec::new(), allow: None }))
    }

    /// Creates a refusal for the violations of a body or query. The refusal shows at most 50 of them.
    #[must_use]
    pub fn violations(kind: Kind, mut violations: Vec<Violation>) -> Self {
        violations.truncate(MAX_VIOLATIONS);
        let mut problem = Self::new(kind, "the request violates the schema or contradicts itself");
        problem.0.violations = violations;
        problem
    }

    /// Creates a refusal for one violation.
    #[must_use]
    pub fn violation(kind: Kind, property: &str, reason: &str, value: &str) -> Self {
        Self::violations(kind, vec![Violation::new(property, reason, value)])
    }

    /// Creates a 405 with the allowed methods.
    #[must_use]
    pub fn method_not_allowed(allow: &'static str) -> Self {
        let mut problem = Self::new(Kind::MethodNotAllowed, format!("this path allows {allow}"));
        problem.0.allow = Some(allow);
        problem
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.detail)
    }
}

impl ResponseError for Problem {
    fn status_code(&self) -> StatusCode {
        self.0.kind.facts().1
    }

    fn error_response(&self) -> HttpResponse {
        let (name, status, title) = self.0.kind.facts();
        let body = Body {
            r#type: format!("{TYPE_PREFIX}{name}"),
            title,
            status: status.as_u16(),
            detail: &self.0.detail,
            nome: (self.0.kind == Kind::CobDuplicate).then_some("txid_duplicado"),
            violacoes: &self.0.violations,
        };
        let mut response = HttpResponse::build(status);
        response.content_type("application/problem+json");
        if let Some(allow) = self.0.allow {
            response.insert_header((header::ALLOW, allow));
        }
        if self.0.kind == Kind::Unauthorized {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        // `Body` has only strings and a number, so its serialization cannot fail. An empty body would still have the right status.
        response.body(serde_json::to_vec(&body).unwrap_or_default())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let error: &dyn std::error::Error = &error;
        tracing::error!(error, "change could not be recorded; the request fails");
        Self::new(Kind::InternalError, "the request could not be recorded")
    }
}
