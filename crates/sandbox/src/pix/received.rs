//! `/v2/pix`: reads and lists received Pix.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde::Serialize;

use super::{
    Shared, admit,
    cob::debtor_matches,
    json,
    oauth::Scope,
    problem::{Kind, Problem},
    query::{Paging, Query},
    views::{self, PixView},
};
use crate::requests::Operation;

/// The longest txid in the filter `txid`, in characters. The shortest is 1: a static code may have a shorter txid than a charge.
const MAX_TXID: usize = 35;

/// `GET /v2/pix/{e2eid}`: reads a received Pix.
///
/// # Errors
/// 404 for an unknown end-to-end id.
pub async fn get(request: HttpRequest, e2eid: web::Path<String>, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::PixRead, Operation::PixRead)?;
    Query::of(&request).conclude(Kind::PixInvalidQuery, Some(()))?;
    psp.settle_due()?;
    let store = psp.read();
    let payment = store.books().find_payment(&e2eid).ok_or_else(unknown)?;
    let cob = store.books().find_cob(&payment.txid).map(|(_, cob)| cob);
    json(StatusCode::OK, &views::received(&psp, payment, cob))
}

/// Returns the 404 for an unknown end-to-end id.
#[must_use]
pub fn unknown() -> Problem {
    Problem::new(Kind::PixNotFound, "no Pix has this end-to-end id")
}

#[derive(Serialize)]
struct Listed<'a> {
    parametros: Parameters,
    pix: Vec<PixView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    inicio: String,
    fim: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    txid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_id_presente: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    devolucao_presente: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnpj: Option<String>,
    paginacao: Paging,
}

/// `GET /v2/pix`: lists the Pix that were received between `inicio` and `fim`, oldest first. `cpf` and `cnpj` are compared with the
/// debtor of the charge.
///
/// # Errors
/// 400 `PixConsultaInvalida` with violations.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, Problem> {
    admit(&psp, &request, Scope::PixRead, Operation::PixList)?;
    let mut query = Query::of(&request);
    let page = query.page();
    let (cpf, cnpj) = query.documents();
    let has_txid = query.boolean("txIdPresente");
    let has_refund = query.boolean("devolucaoPresente");
    let txid = query.parsed("txid", "must have 1 to 35 letters and digits", |text| {
        let valid = (1..=MAX_TXID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        valid.then(|| text.to_owned())
    });
    let period = query.period();
    let period = query.conclude(Kind::PixInvalidQuery, period)?;
    psp.settle_due()?;
    let store = psp.read();
    let books = store.books();
    let asks_debtor = cpf.is_some() || cnpj.is_some();
    let matching = books
        .payments_between(period.from.0, period.to.0)
        .filter(|payment| txid.as_deref().is_none_or(|txid| *payment.txid == *txid))
        // Every received Pix of the simulator belongs to a charge and has its txid. So `txIdPresente=false` matches no Pix.
        .filter(|_| has_txid != Some(false))
        .filter(|payment| has_refund.is_none_or(|wanted| payment.refunds.is_empty() != wanted))
        .map(|payment| (payment, books.find_cob(&payment.txid).map(|(_, cob)| cob)))
        .filter(|(_, cob)| {
            let debtor = cob.and_then(|cob| cob.terms.debtor.as_deref());
            !asks_debtor || debtor_matches(debtor, cpf.as_deref(), cnpj.as_deref())
        });
    let (found, paging) = page.cut(matching);
    let pix = found.into_iter().map(|(payment, cob)| views::received(&psp, payment, cob)).collect();
    let parametros = Parameters {
        inicio: period.from.1,
        fim: period.to.1,
        txid: txid.clone(),
        tx_id_presente: has_txid,
        devolucao_presente: has_refund,
        cpf: cpf.clone(),
        cnpj: cnpj.clone(),
        paginacao: paging,
    };
    json(StatusCode::OK, &Listed { parametros, pix })
}
