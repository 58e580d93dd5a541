//! `/v2/cob`: creates, revises, removes, reads and lists immediate charges.

use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use cais_domain::txid::Txid;
use serde::Serialize;
use serde_json::Value;

use super::{
    Shared, admit, body,
    cob_body::{self, Locations},
    json,
    oauth::Scope,
    problem::{Kind, Problem},
    query::{Paging, Period, Query},
    views::{self, CobView},
};
use crate::{
    psp::{Psp, StoreError},
    random_ids,
    requests::Operation,
    state::{
        change::Change,
        cob::{Cob, CobStatus, Debtor, LocationToken},
    },
};

/// `PUT /v2/cob/{txid}`: creates a charge with the client's txid.
///
/// # Errors
/// 400 with violations, 409 `txid_duplicado` if a charge has this txid already.
pub async fn put(
    request: HttpRequest,
    txid: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::CobWrite, Operation::CobCreate)?;
    let body = body::json(&request, payload, Kind::CobInvalidOperation).await?;
    if Txid::parse(&txid).is_err() {
        let reason = "must have 26 to 35 letters and digits";
        return Err(Problem::violation(Kind::CobInvalidOperation, "txid", reason, &txid));
    }
    create(&psp, &txid, body)
}

/// `POST /v2/cob`: creates a charge whose txid the institution chooses.
///
/// # Errors
/// 400 with violations.
pub async fn post(request: HttpRequest, payload: web::Payload, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::CobWrite, Operation::CobCreate)?;
    let body = body::json(&request, payload, Kind::CobInvalidOperation).await?;
    let txid = random_ids::hex().map_err(StoreError::from)?;
    create(&psp, &txid, body)
}

fn create(psp: &Psp, txid: &str, body: Value) -> Result<HttpResponse, Problem> {
    let locations = Locations { own: None, count: psp.read().books().cob_count() };
    let terms = cob_body::solicited(body, &psp.identity.pix_key, locations)?;
    let location = LocationToken(u128::from_be_bytes(random_ids::bytes().map_err(StoreError::from)?));
    let mut store = psp.write();
    if store.books().find_cob(txid).is_some() {
        psp.requests.count(Operation::CobDuplicate);
        return Err(Problem::violation(Kind::CobDuplicate, "txid", "txid_duplicado: the txid exists", txid));
    }
    let cob = Cob {
        txid: Arc::from(txid),
        created_at: psp.clock.now(),
        location,
        terms,
        past: Vec::new(),
        payments: Vec::new(),
    };
    let position = store.books().cob_count();
    store.commit(Change::CobCreated(cob.clone()))?;
    drop(store);
    json(StatusCode::CREATED, &views::generated(psp, position, &cob))
}

/// `PATCH /v2/cob/{txid}`: revises or removes a charge.
///
/// # Errors
/// 404 for an unknown txid, 400 with violations, also if the charge is not `ATIVA`.
pub async fn patch(
    request: HttpRequest,
    txid: web::Path<String>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::CobWrite, Operation::CobRevise)?;
    let body = body::json(&request, payload, Kind::CobInvalidOperation).await?;
    let mut store = psp.write();
    let (position, cob) = store.books().find_cob(&txid).ok_or_else(unknown)?;
    let locations = Locations { own: Some(views::location_id(position)), count: store.books().cob_count() };
    let revision = cob_body::revised(body, &psp.identity.pix_key, locations)?;
    if cob.terms.status != CobStatus::Active {
        let reason = "the charge is not ATIVA";
        return Err(Problem::violation(Kind::CobInvalidOperation, "cob.status", reason, ""));
    }
    if let Some(terms) = revision.applied_to(&cob.terms) {
        let txid = cob.txid.clone();
        store.commit(Change::CobRevised { txid, terms })?;
    }
    let (position, cob) = store.books().find_cob(&txid).ok_or_else(unknown)?;
    json(StatusCode::OK, &views::generated(&psp, position, cob))
}

/// `GET /v2/cob/{txid}?revisao=`: reads a charge, by default with its current terms. `revisao` selects earlier terms.
///
/// # Errors
/// 404 for an unknown txid, 400 for a revision that does not exist.
pub async fn get(request: HttpRequest, txid: web::Path<String>, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::CobRead, Operation::CobRead)?;
    let mut query = Query::of(&request);
    let revision = query.parsed("revisao", "must be an integer, 0 or above", |text| text.parse::<usize>().ok());
    query.conclude(Kind::CobInvalidQuery, Some(()))?;
    psp.settle_due()?;
    let store = psp.read();
    let cob = store.books().find_cob(&txid).ok_or_else(unknown)?;
    let view = views::complete(&psp, store.books(), cob, revision)
        .ok_or_else(|| Problem::violation(Kind::CobInvalidQuery, "revisao", "the charge has no such revision", ""))?;
    json(StatusCode::OK, &view)
}

fn unknown() -> Problem {
    Problem::new(Kind::CobNotFound, "no charge has this txid")
}

struct Filter {
    period: Period,
    cpf: Option<String>,
    cnpj: Option<String>,
    has_location: Option<bool>,
    status: Option<CobStatus>,
}

impl Filter {
    fn matches(&self, cob: &Cob) -> bool {
        debtor_matches(cob.terms.debtor.as_deref(), self.cpf.as_deref(), self.cnpj.as_deref())
            // `locationPresente=false` matches no charge, because every charge of this institution has a location.
            && self.has_location != Some(false)
            && self.status.is_none_or(|status| cob.terms.status == status)
    }
}

/// Returns whether a charge's debtor has the CPF or CNPJ of the filter. If both are `None`, every charge matches.
#[must_use]
pub fn debtor_matches(debtor: Option<&Debtor>, cpf: Option<&str>, cnpj: Option<&str>) -> bool {
    let of = |field: fn(&Debtor) -> Option<&str>| debtor.and_then(field);
    cpf.is_none_or(|cpf| of(|debtor| debtor.cpf.as_deref()) == Some(cpf))
        && cnpj.is_none_or(|cnpj| of(|debtor| debtor.cnpj.as_deref()) == Some(cnpj))
}

#[derive(Serialize)]
struct Listed<'a> {
    parametros: Parameters,
    cobs: Vec<CobView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    inicio: String,
    fim: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnpj: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location_presente: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<CobStatus>,
    paginacao: Paging,
}

/// `GET /v2/cob`: lists charges by the instant of their creation, oldest first.
///
/// # Errors
/// 400 `CobConsultaInvalida` with violations.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::CobRead, Operation::CobList)?;
    let mut query = Query::of(&request);
    let page = query.page();
    let (cpf, cnpj) = query.documents();
    let has_location = query.boolean("locationPresente");
    let status = query.parsed("status", "is not a status of a charge", CobStatus::parse);
    let period = query.period();
    let filter = period.map(|period| Filter { period, cpf, cnpj, has_location, status });
    let filter = query.conclude(Kind::CobInvalidQuery, filter)?;
    psp.settle_due()?;
    let store = psp.read();
    let books = store.books();
    let matching = books.cobs_between(filter.period.from.0, filter.period.to.0).filter(|(_, cob)| filter.matches(cob));
    let (cobs, paging) = page.cut(matching);
    let cobs = cobs.into_iter().filter_map(|cob| views::complete(&psp, books, cob, None)).collect();
    let parametros = Parameters {
        inicio: filter.period.from.1,
        fim: filter.period.to.1,
        cpf: filter.cpf,
        cnpj: filter.cnpj,
        location_presente: filter.has_location,
        status: filter.status,
        paginacao: paging,
    };
    json(StatusCode::OK, &Listed { parametros, cobs })
}
