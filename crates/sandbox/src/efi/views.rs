//! The JSON forms of a sent Pix in answers and in callbacks.

use cais_domain::{document::Document, money::Money};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    state::sent::{Recipient, SendFailure, SendOutcome, SendStatus, Sent, SentReturn},
    wire,
};

/// `origem` of a failure, in Efí's words: the recipient's institution refused the Pix.
const REFUSED_BY: &str = "PSP do usuário recebedor";

/// The answer to an accepted send.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedView<'a> {
    id_envio: &'a str,
    /// The end-to-end id, under the name in Efí's documents.
    e2e_id: &'a str,
    /// The end-to-end id, under the name in newer clients.
    end_to_end_id: &'a str,
    #[serde(with = "wire::amount")]
    valor: Money,
    horario: Times,
    status: SendStatus,
}

#[derive(Debug, Serialize)]
struct Times {
    #[serde(serialize_with = "wire::serialize_instant")]
    solicitacao: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "wire::serialize_optional_instant")]
    liquidacao: Option<Timestamp>,
}

/// A sent Pix in the answers to reads and lists.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentView<'a> {
    end_to_end_id: &'a str,
    id_envio: &'a str,
    #[serde(with = "wire::amount")]
    valor: Money,
    chave: &'a str,
    status: SendStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    info_pagador: Option<&'a str>,
    horario: Times,
    favorecido: RecipientView<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devolucoes: Vec<SentReturnView<'a>>,
    /// The reason for which the Pix failed. Efí itself shows the reason only in the callback.
    #[serde(skip_serializing_if = "Option::is_none")]
    gn_extras: Option<Extras<'a>>,
}

#[derive(Debug, Serialize)]
struct RecipientView<'a> {
    chave: &'a str,
    identificacao: Identification<'a>,
}

#[derive(Debug, Serialize)]
struct Identification<'a> {
    nome: &'a str,
    /// Masked, because the document identifies a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpf: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnpj: Option<&'a str>,
}

/// A returned part of a sent Pix.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentReturnView<'a> {
    rtr_id: &'a str,
    #[serde(with = "wire::amount")]
    valor: Money,
    #[serde(serialize_with = "wire::serialize_instant")]
    horario: Timestamp,
}

/// A sent Pix in a callback.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SentCallback<'a> {
    end_to_end_id: &'a str,
    chave: &'a str,
    tipo: &'static str,
    status: SendStatus,
    #[serde(with = "wire::amount")]
    valor: Money,
    /// The instant when the recipient received the money; `null` if the Pix is not `REALIZADO`.
    #[serde(serialize_with = "wire::serialize_optional_instant")]
    horario: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info_pagador: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devolucoes: Vec<SentReturnView<'a>>,
    gn_extras: Extras<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Extras<'a> {
    id_envio: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    erro: Option<Failure>,
}

#[derive(Debug, Serialize)]
struct Failure {
    codigo: &'static str,
    origem: &'static str,
    motivo: &'static str,
}

/// Returns the answer to an accepted send.
#[must_use]
pub fn accepted(sent: &Sent) -> AcceptedView<'_> {
    AcceptedView {
        id_envio: &sent.send_id,
        e2e_id: &sent.end_to_end_id,
        end_to_end_id: &sent.end_to_end_id,
        valor: sent.amount,
        horario: Times { solicitacao: sent.requested_at, liquidacao: None },
        status: sent.outcome.status(),
    }
}

/// Returns a sent Pix in the form of reads and lists. `own_key` is the Pix key of the sending account.
#[must_use]
pub fn sent<'a>(sent: &'a Sent, own_key: &'a str) -> SentView<'a> {
    let (settled_at, failure) = ending(sent);
    SentView {
        end_to_end_id: &sent.end_to_end_id,
        id_envio: &sent.send_id,
        valor: sent.amount,
        chave: own_key,
        status: sent.outcome.status(),
        info_pagador: sent.payer_info.as_deref(),
        horario: Times { solicitacao: sent.requested_at, liquidacao: settled_at },
        favorecido: RecipientView { chave: &sent.recipient.key, identificacao: identification(&sent.recipient) },
        devolucoes: sent.returns.iter().map(sent_return).collect(),
        gn_extras: failure.map(|failure| extras(sent, Some(failure))),
    }
}

/// Returns a sent Pix in the form of a callback. `own_key` is the Pix key of the sending account.
#[must_use]
pub fn callback<'a>(sent: &'a Sent, own_key: &'a str) -> SentCallback<'a> {
    let (settled_at, failure) = ending(sent);
    SentCallback {
        end_to_end_id: &sent.end_to_end_id,
        chave: own_key,
        tipo: "SOLICITACAO",
        status: sent.outcome.status(),
        valor: sent.amount,
        horario: settled_at,
        info_pagador: sent.payer_info.as_deref(),
        devolucoes: sent.returns.iter().map(sent_return).collect(),
        gn_extras: extras(sent, failure),
    }
}

/// Returns the JSON form of a returned part of a sent Pix.
#[must_use]
pub fn sent_return(back: &SentReturn) -> SentReturnView<'_> {
    SentReturnView { rtr_id: &back.return_id, valor: back.amount, horario: back.at }
}

fn ending(sent: &Sent) -> (Option<Timestamp>, Option<SendFailure>) {
    match sent.outcome {
        SendOutcome::Processing => (None, None),
        SendOutcome::Settled { at } => (Some(at), None),
        SendOutcome::Failed(failure) => (None, Some(failure)),
    }
}

fn extras(sent: &Sent, failure: Option<SendFailure>) -> Extras<'_> {
    let shown = |failure: SendFailure| Failure { codigo: failure.code(), origem: REFUSED_BY, motivo: failure.reason() };
    Extras { id_envio: &sent.send_id, erro: failure.map(shown) }
}

fn identification(recipient: &Recipient) -> Identification<'_> {
    match Document::parse(&recipient.document) {
        Ok(Document::Cpf(cpf)) => Identification { nome: &recipient.name, cpf: Some(cpf.masked()), cnpj: None },
        Ok(Document::Cnpj(_)) => Identification { nome: &recipient.name, cpf: None, cnpj: Some(&recipient.document) },
        Err(_) => Identification { nome: &recipient.name, cpf: None, cnpj: None },
    }
}
