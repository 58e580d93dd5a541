//! The public payload of a dynamic BR Code, for the payer's institution. The payload has no signature (JWS).

use actix_web::{HttpResponse, http::StatusCode, web};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    Shared, json,
    problem::{Kind, Problem},
};
use crate::{
    requests::Operation,
    state::cob::{AdditionalInfo, CobStatus, Debtor, LocationToken, Value},
    wire,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    revisao: usize,
    calendario: Calendar,
    txid: &'a str,
    status: CobStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    devedor: Option<&'a Debtor>,
    valor: &'a Value,
    chave: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    solicitacao_pagador: Option<&'a str>,
    #[serde(skip_serializing_if = "<[AdditionalInfo]>::is_empty")]
    info_adicionais: &'a [AdditionalInfo],
}

#[derive(Serialize)]
struct Calendar {
    #[serde(serialize_with = "wire::serialize_instant")]
    criacao: Timestamp,
    #[serde(serialize_with = "wire::serialize_instant")]
    apresentacao: Timestamp,
    expiracao: i32,
}

/// `GET /qr/v2/{token}`: the payload of the charge with this location.
///
/// # Errors
/// 404 for an unknown location, 410 if its charge is not `ATIVA` or has expired.
pub async fn get(token: web::Path<String>, psp: Shared) -> Result<HttpResponse, Problem> {
    psp.requests.count(Operation::Payload);
    let now = psp.clock.now();
    let store = psp.read();
    let (_, cob) = LocationToken::parse(&token)
        .and_then(|token| store.books().find_cob_at(token))
        .ok_or_else(|| Problem::new(Kind::PayloadNotFound, "no charge has this location"))?;
    if cob.terms.status != CobStatus::Active || cob.expires_at() <= now {
        return Err(Problem::new(Kind::PayloadGone, "the charge is paid, removed or expired"));
    }
    json(
        StatusCode::OK,
        &Payload {
            revisao: cob.past.len(),
            calendario: Calendar { criacao: cob.created_at, apresentacao: now, expiracao: cob.terms.expires_in_s },
            txid: &cob.txid,
            status: cob.terms.status,
            devedor: cob.terms.debtor.as_deref(),
            valor: &cob.terms.value,
            chave: &psp.identity.pix_key,
            solicitacao_pagador: cob.terms.payer_request.as_deref(),
            info_adicionais: &cob.terms.info,
        },
    )
}
