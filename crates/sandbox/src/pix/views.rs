//! The JSON of charges, received Pix and returns, in responses and callbacks of the API Pix.

use cais_domain::{br_code::DynamicCode, money::Money};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    psp::Psp,
    state::{
        Books,
        cob::{AdditionalInfo, Cob, CobStatus, Debtor, LocationToken, Terms, Value, Withdrawal},
        payment::{Nature, Payment, Refund, RefundOutcome},
    },
    wire,
};

/// The path of a charge's payload, up to the location token.
pub const PAYLOAD_PATH: &str = "/qr/v2/";

/// A charge: the API's `CobCompleta` if `pix` is present, otherwise its `CobGerada`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CobView<'a> {
    calendario: Calendar,
    txid: &'a str,
    revisao: usize,
    loc: Location,
    location: String,
    status: CobStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    devedor: Option<&'a Debtor>,
    valor: &'a Value,
    chave: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    solicitacao_pagador: Option<&'a str>,
    #[serde(skip_serializing_if = "<[AdditionalInfo]>::is_empty")]
    info_adicionais: &'a [AdditionalInfo],
    #[serde(rename = "pixCopiaECola", skip_serializing_if = "Option::is_none")]
    copy_and_paste: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pix: Option<Vec<PixView<'a>>>,
}

#[derive(Debug, Serialize)]
struct Calendar {
    #[serde(serialize_with = "wire::serialize_instant")]
    criacao: Timestamp,
    expiracao: i32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    id: usize,
    #[serde(rename = "location")]
    address: String,
    tipo_cob: &'static str,
    #[serde(serialize_with = "wire::serialize_instant")]
    criacao: Timestamp,
}

/// A received Pix.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PixView<'a> {
    end_to_end_id: &'a str,
    txid: &'a str,
    #[serde(with = "wire::amount")]
    valor: Money,
    componentes_valor: Components<'a>,
    chave: &'a str,
    #[serde(serialize_with = "wire::serialize_instant")]
    horario: Timestamp,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devolucoes: Vec<RefundView<'a>>,
}

#[derive(Debug, Serialize)]
struct Components<'a> {
    original: Component,
    #[serde(skip_serializing_if = "Option::is_none")]
    saque: Option<CashComponent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    troco: Option<CashComponent<'a>>,
}

#[derive(Debug, Serialize)]
struct Component {
    #[serde(with = "wire::amount")]
    valor: Money,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CashComponent<'a> {
    #[serde(with = "wire::amount")]
    valor: Money,
    modalidade_agente: &'a str,
    /// In a charge, the API spells the name of this field `prestadorDoServicoDeSaque`.
    prestador_de_servico_de_saque: &'a str,
}

/// A return of a received Pix.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundView<'a> {
    id: &'a str,
    rtr_id: &'a str,
    #[serde(with = "wire::amount")]
    valor: Money,
    natureza: Nature,
    #[serde(skip_serializing_if = "Option::is_none")]
    descricao: Option<&'a str>,
    horario: RefundTimes,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    motivo: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct RefundTimes {
    #[serde(serialize_with = "wire::serialize_instant")]
    solicitacao: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::serialize_optional_instant")]
    liquidacao: Option<Timestamp>,
}

/// Returns the view of a charge for the responses to its creation and revision: without payments. `position` is the charge's position
/// in the books.
#[must_use]
pub fn generated<'a>(psp: &'a Psp, position: usize, cob: &'a Cob) -> CobView<'a> {
    view(psp, position, cob, &cob.terms, cob.past.len())
}

/// Returns the view of a charge for the responses to reads: with its payments. `revision` is the number of the terms to show; `None`
/// shows the present terms. Returns `None` for an unknown revision.
#[must_use]
pub fn complete<'a>(
    psp: &'a Psp,
    books: &'a Books,
    (position, cob): (usize, &'a Cob),
    revision: Option<usize>,
) -> Option<CobView<'a>> {
    let number = revision.unwrap_or(cob.past.len());
    let terms = if number == cob.past.len() { &cob.terms } else { cob.past.get(number)? };
    let pix = books.payments_of(cob).map(|payment| received(psp, payment, Some(cob))).collect();
    Some(CobView { pix: Some(pix), ..view(psp, position, cob, terms, number) })
}

fn view<'a>(psp: &'a Psp, position: usize, cob: &'a Cob, terms: &'a Terms, revision: usize) -> CobView<'a> {
    let location = location(psp, cob.location);
    CobView {
        calendario: Calendar { criacao: cob.created_at, expiracao: terms.expires_in_s },
        txid: &cob.txid,
        revisao: revision,
        loc: Location {
            id: location_id(position),
            address: location.clone(),
            tipo_cob: "cob",
            criacao: cob.created_at,
        },
        status: terms.status,
        devedor: terms.debtor.as_deref(),
        valor: &terms.value,
        chave: &psp.identity.pix_key,
        solicitacao_pagador: terms.payer_request.as_deref(),
        info_adicionais: &terms.info,
        copy_and_paste: copy_and_paste(psp, &location),
        location,
        pix: None,
    }
}

/// Returns the `loc.id` of the charge at this position in the books.
#[must_use]
pub fn location_id(position: usize) -> usize {
    position + 1
}

/// Returns the address of a charge's payload, without its scheme.
#[must_use]
pub fn location(psp: &Psp, token: LocationToken) -> String {
    format!("{}{PAYLOAD_PATH}{:032x}", psp.host, token.0)
}

/// Returns the BR Code of a location. Returns `None` if a BR Code cannot contain the location, or the merchant's name or city.
#[must_use]
pub fn copy_and_paste(psp: &Psp, location: &str) -> Option<String> {
    let (name, city) = psp.merchant.clone();
    let code = DynamicCode {
        location: location.to_owned(),
        single_use: true,
        amount: None,
        merchant_name: name,
        merchant_city: city,
        postal_code: None,
    };
    code.write().ok()
}

/// Returns the view of a received Pix with its returns. If the charge `cob` has a `retirada`, the view shows the part in cash, as `saque`
/// or `troco`.
#[must_use]
pub fn received<'a>(psp: &'a Psp, payment: &'a Payment, cob: Option<&'a Cob>) -> PixView<'a> {
    let cash = cob.and_then(|cob| cob.terms.value.withdrawal.as_deref());
    let component = |cash: &'a Withdrawal| CashComponent {
        valor: payment.withdrawn,
        modalidade_agente: &cash.terms().agent,
        prestador_de_servico_de_saque: &cash.terms().provider,
    };
    PixView {
        end_to_end_id: &payment.end_to_end_id,
        txid: &payment.txid,
        valor: payment.amount,
        componentes_valor: Components {
            original: Component { valor: payment.amount.checked_sub(payment.withdrawn).unwrap_or(Money::ZERO) },
            saque: cash.filter(|cash| matches!(cash, Withdrawal::Cash(_))).map(component),
            troco: cash.filter(|cash| matches!(cash, Withdrawal::Change(_))).map(component),
        },
        chave: &psp.identity.pix_key,
        horario: payment.paid_at,
        devolucoes: payment.refunds.iter().map(refund).collect(),
    }
}

/// Returns the view of a return.
#[must_use]
pub fn refund(refund: &Refund) -> RefundView<'_> {
    let (status, settled_at, reason) = match &refund.outcome {
        RefundOutcome::Processing => ("EM_PROCESSAMENTO", None, None),
        RefundOutcome::Returned { at } => ("DEVOLVIDO", Some(*at), None),
        RefundOutcome::Failed { reason } => ("NAO_REALIZADO", None, Some(&**reason)),
    };
    RefundView {
        id: &refund.id,
        rtr_id: &refund.return_id,
        valor: refund.amount,
        natureza: refund.nature,
        descricao: refund.description.as_deref(),
        horario: RefundTimes { solicitacao: refund.requested_at, liquidacao: settled_at },
        status,
        motivo: reason,
    }
}
