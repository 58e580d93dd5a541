//! Another institution's dialect of the API Pix: other paths, token requests, headers and instants, and deliberate
//! defects.

mod answer;
mod request;

use std::sync::{PoisonError, RwLock};

use actix_web::{
    HttpResponse, ResponseError as _,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
    web,
};
use serde::{Deserialize, Serialize};

use crate::{pix::Shared, psp::Psp};

/// A deliberate deviation from the API Pix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// A created charge is answered 200 in place of 201.
    WrongStatus,
    /// A charge has no `calendario.criacao`.
    MissingField,
    /// Instants have the form `DD/MM/YYYY hh:mm:ss`.
    WrongDateFormat,
    /// Amounts are JSON numbers.
    NumberForText,
    /// A charge has another txid than the requested one.
    OtherTxid,
    /// A charge has another amount than the requested one.
    OtherAmount,
    /// Lists have no `parametros.paginacao`.
    NoPagination,
    /// A list of charges is always empty.
    EmptyList,
    /// A registered webhook is not found.
    WebhookNotRegistered,
    /// A charge has a status outside of the standard.
    UnknownStatus,
    /// Answers show a charge as active, also after its cancellation.
    CancelIgnored,
    /// Answers with a status 4xx are HTML pages.
    HtmlProblem,
    /// The checksum of `pixCopiaECola` is wrong.
    WrongChecksum,
    /// A token has no `expires_in`.
    TokenWithoutLife,
    /// Every request for a return is answered 200, also a refused one.
    ReturnStatus,
    /// A received Pix has no `endToEndId`.
    PixWithoutId,
}

impl Defect {
    /// All defects.
    pub const ALL: [Self; 16] = [
        Self::WrongStatus,
        Self::MissingField,
        Self::WrongDateFormat,
        Self::NumberForText,
        Self::OtherTxid,
        Self::OtherAmount,
        Self::NoPagination,
        Self::EmptyList,
        Self::WebhookNotRegistered,
        Self::UnknownStatus,
        Self::CancelIgnored,
        Self::HtmlProblem,
        Self::WrongChecksum,
        Self::TokenWithoutLife,
        Self::ReturnStatus,
        Self::PixWithoutId,
    ];
}

/// A dialect, as differences from this institution's own API Pix. The default has no differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate difference between institutions")]
pub struct Dialect {
    /// The path of the API in place of `/v2`. The path `/v2` then does not exist.
    pub path_prefix: Option<String>,
    /// The path of token requests in place of `/oauth/token`. The path `/oauth/token` then does not exist.
    pub token_path: Option<String>,
    /// `form` or `json`: the only accepted body of token requests. `None` accepts both.
    pub token_body: Option<String>,
    /// The query parameters, with their values, that every token request must have.
    pub token_query: Vec<(String, String)>,
    /// `true`: in a token request with a form, `client_id` and `client_secret` are fields of the body. The header `Authorization` is then
    /// refused.
    pub credentials_in_body: bool,
    /// `true`: a token request with a form must have the field `scope`.
    pub requires_scope: bool,
    /// The headers, with their values, that every request except a token request must have.
    pub headers: Vec<(String, String)>,
    /// The query parameters, with their values, that every request except a token request must have.
    pub query: Vec<(String, String)>,
    /// `true`: a taken txid is refused with 400 `CobOperacaoInvalida`, not with 409.
    pub refuses_taken_txid: bool,
    /// `true`: instants in answers are in the time of Brasília, without an offset.
    pub local_dates: bool,
    /// A deliberate deviation, if any.
    pub defect: Option<Defect>,
}

/// The current dialect. A restart restores the institution's own.
#[derive(Debug, Default)]
pub struct Dialects(RwLock<Dialect>);

impl Dialects {
    fn current(&self) -> Dialect {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the dialect for later requests.
    pub fn set(&self, dialect: Dialect) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = dialect;
    }
}

/// Translates each request of the API Pix from the current dialect, and its answer into the dialect. Requests of other systems pass
/// unchanged.
pub async fn translate(
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let dialect = request.app_data::<Shared>().map(|psp: &web::Data<std::sync::Arc<Psp>>| psp.dialects.current());
    let dialect = dialect.unwrap_or_default();
    if dialect == Dialect::default() || request::is_outside_api_pix(request.path()) {
        return Ok(next.call(request).await?.map_into_boxed_body());
    }
    if let Err(problem) = request::translate(&mut request, &dialect).await {
        let refused: HttpResponse = problem.error_response();
        return Ok(request.into_response(refused));
    }
    let response = next.call(request).await?.map_into_boxed_body();
    Ok(answer::translate(response, &dialect).await)
}
