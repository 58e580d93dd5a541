//! `/v2/gn/infracoes`: lists infractions, and accepts defenses.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde::Serialize;
use serde_json::Value;

use super::{
    admit,
    infraction_views::{self as views, InfractionView},
    json,
    refusal::Refusal,
};
use crate::{
    infractions::DefenseError,
    pix::{
        Shared, body,
        fields::{self, Findings, Object, shown},
        oauth::Scope,
        problem::{Kind, Problem, Violation},
        query::{Paging, Query},
    },
    requests::Operation,
};

/// The part of the path that only this resource has. The simulated faults recognize its requests by this part.
pub const PATH_PART: &str = "/gn/infracoes";

/// The longest `justificativa`, in characters. Efí documents no limit. This limit is enough for an analysis of 2,000 characters (the limit
/// of DICT) and the URL of the client's evidence.
const MAX_TEXT: usize = 4_000;

/// The only accepted value of `analise`: the receiver rejects the dispute. Efí's newest clients send no other value.
const DISPUTE_REJECTED: &str = "rejeitado";

#[derive(Serialize)]
struct Listed<'a> {
    parametros: Parameters,
    infracoes: Vec<InfractionView<'a>>,
}

#[derive(Serialize)]
struct Parameters {
    inicio: String,
    fim: String,
    paginacao: Paging,
}

/// `GET /v2/gn/infracoes`: lists infractions by the instant of their last opening, oldest first.
///
/// # Errors
/// 400 `InfracoesConsultaInvalida` with violations.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, Refusal> {
    admit(&psp, &request, Scope::InfractionsRead, Operation::InfractionList)?;
    let mut query = Query::of(&request);
    let page = query.page();
    let period = query.period();
    let period = query.conclude(Kind::InfractionsInvalidQuery, period)?;
    let store = psp.read();
    let books = store.books();
    let (found, paging) = page.cut(books.infractions().between(period.from.0, period.to.0));
    let infracoes = found
        .into_iter()
        .filter_map(|(position, infraction)| {
            let payment = books.find_payment(&infraction.end_to_end_id)?;
            let cob = books.find_cob(&payment.txid).map(|(_, cob)| cob);
            Some(views::infraction(&psp, position, infraction, (payment, cob)))
        })
        .collect();
    let parametros = Parameters { inicio: period.from.1, fim: period.to.1, paginacao: paging };
    json(StatusCode::OK, &Listed { parametros, infracoes })
}

/// `POST /v2/gn/infracoes/{id}/defesa`: records a defense; 201 without a body.
///
/// # Errors
/// - 404 `InfracaoNaoEncontrada`.
/// - 400 `InfracaoOperacaoInvalida` for a bad body.
/// - 409 `InfracaoOperacaoInvalida` for an infraction that has a defense, or is resolved or withdrawn.
/// - 422 `InfracaoOperacaoInvalida` after the deadline.
pub async fn defend(
    request: HttpRequest,
    id: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, Refusal> {
    admit(&psp, &request, Scope::InfractionsWrite, Operation::DefenseCreate)?;
    let body = body::json(&request, payload, Kind::InfractionInvalid).await?;
    let text = read(body)?;
    psp.defend(&id, text).map_err(|error| refusal(error, &id))?;
    Ok(HttpResponse::Created().finish())
}

fn refusal(error: DefenseError, id: &str) -> Refusal {
    /// Efí's name of the id in these refusals.
    const PROPERTY: &str = "body.infractionId";
    let kind = match error {
        DefenseError::NotFound => return Problem::new(Kind::InfractionNotFound, error.to_string()).into(),
        DefenseError::Store(error) => return error.into(),
        DefenseError::Defended | DefenseError::Resolved => Kind::InfractionConflict,
        DefenseError::TooLate => Kind::InfractionTooLate,
    };
    Problem::violations(kind, vec![Violation::new(PROPERTY, error.to_string(), id)]).into()
}

fn read(body: Value) -> Result<Box<str>, Problem> {
    let mut findings = Findings::default();
    let text = Object::open("body", body, &mut findings).and_then(|mut object| {
        let analysis = object.require("analise", &mut findings);
        if let Some(analysis) = analysis.filter(|value| value.as_str() != Some(DISPUTE_REJECTED)) {
            findings.add("body.analise", format!("must be {DISPUTE_REJECTED}"), &shown(&analysis));
        }
        let text = object.require("justificativa", &mut findings);
        let text = text.and_then(|value| fields::text("body.justificativa", value, MAX_TEXT, &mut findings));
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            findings.add("body.justificativa", "must not be empty", "");
        }
        object.close(&mut findings);
        text
    });
    findings.conclude(Kind::InfractionInvalid, text)
}
