//! `/v2/gn/pix/enviados`: reads and lists sent Pix.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web};
use serde::Serialize;

use super::{
    admit, json,
    refusal::Refusal,
    views::{self, SentView},
};
use crate::{
    pix::{
        Shared,
        oauth::Scope,
        problem::{Kind, Problem},
        query::{Paging, Query},
    },
    requests::Operation,
    state::sent::{Recipient, SendStatus},
};

/// `GET /v2/gn/pix/enviados/{e2eId}`: reads the sent Pix with this end-to-end id.
///
/// # Errors
/// 404 `PixEnviadoNaoEncontrado`.
pub async fn get(request: HttpRequest, e2eid: web::Path<String>, psp: Shared) -> Result<HttpResponse, Refusal> {
    admit(&psp, &request, Scope::SentRead, Operation::SendRead)?;
    Query::of(&request).conclude(Kind::SentInvalidQuery, Some(()))?;
    psp.settle_due()?;
    let store = psp.read();
    let sent = store.books().sends().find_by_end_to_end_id(&e2eid);
    let sent = sent.ok_or_else(|| Problem::new(Kind::SentNotFound, "no Pix was sent with this e2eId"))?;
    json(StatusCode::OK, &views::sent(sent, &psp.identity.pix_key))
}

/// `GET /v2/gn/pix/enviados/id-envio/{idEnvio}`: reads the sent Pix with this `idEnvio`.
///
/// # Errors
/// 404 `PixEnviadoNaoEncontrado`.
pub async fn get_by_id(request: HttpRequest, id: web::Path<String>, psp: Shared) -> Result<HttpResponse, Refusal> {
    admit(&psp, &request, Scope::SentRead, Operation::SendRead)?;
    Query::of(&request).conclude(Kind::SentInvalidQuery, Some(()))?;
    psp.settle_due()?;
    let store = psp.read();
    let sent = store.books().sends().find(&id);
    let sent = sent.ok_or_else(|| Problem::new(Kind::SentNotFound, "no Pix was sent with this idEnvio"))?;
    json(StatusCode::OK, &views::sent(sent, &psp.identity.pix_key))
}

#[derive(Serialize)]
struct Listed<'a> {
    parametros: Parameters,
    pix: Vec<SentView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    inicio: String,
    fim: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<SendStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exibir_codigo_banco: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnpj: Option<String>,
    paginacao: Paging,
}

/// `GET /v2/gn/pix/enviados`: lists sent Pix by the instant of their acceptance, oldest first. `cpf` or `cnpj` selects the Pix to the
/// recipient with this document. `exibirCodigoBanco` does not change the rows, because they never show a recipient's bank account.
///
/// # Errors
/// 400 `PixEnviadoConsultaInvalida` with violations.
pub async fn list(request: HttpRequest, psp: Shared) -> Result<HttpResponse, Refusal> {
    admit(&psp, &request, Scope::SentRead, Operation::SendList)?;
    let mut query = Query::of(&request);
    let page = query.page();
    let (cpf, cnpj) = query.documents();
    let shows_bank = query.boolean("exibirCodigoBanco");
    let status = query.parsed("status", "is not a status of a sent Pix", SendStatus::parse);
    let period = query.period();
    let period = query.conclude(Kind::SentInvalidQuery, period)?;
    psp.settle_due()?;
    let store = psp.read();
    let document = cpf.as_deref().or(cnpj.as_deref());
    let is_meant = |recipient: &Recipient| document.is_none_or(|document| *recipient.document == *document);
    let matching = store
        .books()
        .sends()
        .between(period.from.0, period.to.0)
        .filter(|sent| status.is_none_or(|status| sent.outcome.status() == status) && is_meant(&sent.recipient));
    let (found, paging) = page.cut(matching);
    let pix = found.into_iter().map(|sent| views::sent(sent, &psp.identity.pix_key)).collect();
    let parametros = Parameters {
        inicio: period.from.1,
        fim: period.to.1,
        status,
        exibir_codigo_banco: shows_bank,
        cpf: cpf.clone(),
        cnpj: cnpj.clone(),
        paginacao: paging,
    };
    json(StatusCode::OK, &Listed { parametros, pix })
}
