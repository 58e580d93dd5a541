//! `/v2/pix/{e2eid}/devolucao/{id}`: requests and reads the returns of a received Pix.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde_json::Value;

use super::{
    Shared, admit, body,
    fields::{self, Findings, Object, shown},
    json,
    oauth::Scope,
    problem::{Kind, Problem},
    query::Query,
    received, views,
};
use crate::{
    refunds::{RefundError, RefundRequest},
    requests::Operation,
    state::payment::Nature,
};

const MAX_ID: usize = 35;
const MAX_DESCRIPTION: usize = 140;

/// `PUT /v2/pix/{e2eid}/devolucao/{id}`: requests a return. The response is 201 with the return, which is `EM_PROCESSAMENTO`.
///
/// # Errors
/// 404 for an unknown Pix. 400 `PixDevolucaoInvalida` for:
///
/// - an invalid body or id, and an id that another return of this Pix has;
/// - an amount above the part of the Pix that can still be returned;
/// - a Pix that was settled more than 90 days ago.
pub async fn put(
    request: HttpRequest,
    path: web::Path<(String, String)>,
    payload: web::Payload,
    psp: Shared,
) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::PixWrite, Operation::RefundCreate)?;
    let body = body::json(&request, payload, Kind::RefundInvalid).await?;
    let (e2eid, id) = path.into_inner();
    let wanted = read(body, &id)?;
    let shown_amount = wanted.amount.to_string();
    psp.settle_due()?;
    let refund = psp.request_refund(&e2eid, wanted).map_err(|error| match error {
        RefundError::PaymentNotFound => received::unknown(),
        RefundError::IdTaken => {
            Problem::violation(Kind::RefundInvalid, "devolucao.id", &RefundError::IdTaken.to_string(), &id)
        }
        RefundError::ExceedsPayment => {
            let reason = RefundError::ExceedsPayment.to_string();
            Problem::violation(Kind::RefundInvalid, "devolucao.valor", &reason, &shown_amount)
        }
        RefundError::TooLate => {
            Problem::violation(Kind::RefundInvalid, "e2eid", &RefundError::TooLate.to_string(), &e2eid)
        }
        RefundError::Store(error) => error.into(),
        other @ (RefundError::RefundNotFound | RefundError::AlreadyFinal | RefundError::Id(_)) => {
            Problem::new(Kind::InternalError, other.to_string())
        }
    })?;
    json(StatusCode::CREATED, &views::refund(&refund))
}

fn read(body: Value, id: &str) -> Result<RefundRequest, Problem> {
    let mut findings = Findings::default();
    if !(1..=MAX_ID).contains(&id.len()) || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        findings.add("devolucao.id", "must have 1 to 35 letters and digits", id);
    }
    let wanted = Object::open("devolucao", body, &mut findings).and_then(|mut object| {
        let amount = object.require("valor", &mut findings);
        let amount = amount.and_then(|value| fields::amount("devolucao.valor", &value, &mut findings));
        if amount.is_some_and(cais_domain::money::Money::is_zero) {
            findings.add("devolucao.valor", "must not be 0.00", "0.00");
        }
        let nature = match object.take("natureza") {
            None => Nature::Original,
            Some(value) => match value.as_str() {
                Some("ORIGINAL") => Nature::Original,
                Some("RETIRADA") => Nature::Withdrawal,
                Some(_) | None => {
                    findings.add("devolucao.natureza", "must be ORIGINAL or RETIRADA", &shown(&value));
                    Nature::Original
                }
            },
        };
        let description = object
            .take("descricao")
            .and_then(|value| fields::text("devolucao.descricao", value, MAX_DESCRIPTION, &mut findings));
        object.close(&mut findings);
        Some(RefundRequest { id: id.into(), amount: amount?, nature, description })
    });
    findings.conclude(Kind::RefundInvalid, wanted)
}

/// `GET /v2/pix/{e2eid}/devolucao/{id}`: reads a return.
///
/// # Errors
/// 404 for an unknown Pix or return.
pub async fn get(
    request: HttpRequest,
    path: web::Path<(String, String)>,
    psp: Shared,
) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::PixRead, Operation::RefundRead)?;
    Query::of(&request).conclude(Kind::PixInvalidQuery, Some(()))?;
    psp.settle_due()?;
    let (e2eid, id) = path.into_inner();
    let store = psp.read();
    let payment = store.books().find_payment(&e2eid).ok_or_else(received::unknown)?;
    let refund = payment
        .find_refund(&id)
        .ok_or_else(|| Problem::new(Kind::RefundNotFound, "the Pix has no return of this id"))?;
    json(StatusCode::OK, &views::refund(refund))
}
