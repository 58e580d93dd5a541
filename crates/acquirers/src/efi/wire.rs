//! The wire format of sent Pix. Answers are parsed leniently here and checked in `read`. Efí may write a text as a number.

use cais_domain::document::Document;
use cais_ports::{AcquirerError, PayoutOrder};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::bacen::wire::{amount_text, line};

/// The longest `infoPagador`, in characters.
const MAX_INFO_CHARS: usize = 140;

#[derive(Serialize)]
struct SendRequest<'a> {
    valor: String,
    pagador: Payer<'a>,
    favorecido: Recipient<'a>,
}

#[derive(Serialize)]
struct Payer<'a> {
    chave: &'a str,
    #[serde(rename = "infoPagador", skip_serializing_if = "Option::is_none")]
    info: Option<String>,
}

#[derive(Serialize)]
struct Recipient<'a> {
    chave: &'a str,
    /// With `cpf` or `cnpj`, Efí pays only the owner of that document.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpf: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnpj: Option<&'a str>,
}

/// Returns the body of `PUT /v3/gn/pix/{idEnvio}`; `payer` is our Pix key.
///
/// # Errors
/// [`AcquirerError::Refused`] for an order that Efí's format cannot express.
pub(super) fn send_request(order: &PayoutOrder, payer: &str) -> Result<Vec<u8>, AcquirerError> {
    let (cpf, cnpj) = match &order.recipient_document {
        Some(Document::Cpf(cpf)) => (Some(cpf.as_str()), None),
        Some(Document::Cnpj(cnpj)) => (None, Some(cnpj.as_str())),
        None => (None, None),
    };
    let body = SendRequest {
        valor: amount_text(order.amount)?,
        pagador: Payer { chave: payer, info: order.description.as_deref().and_then(|text| line(text, MAX_INFO_CHARS)) },
        favorecido: Recipient { chave: order.pix_key.as_str(), cpf, cnpj },
    };
    serde_json::to_vec(&body).map_err(|_| AcquirerError::Refused("the order cannot be written as JSON".to_owned()))
}

/// A sent Pix in three places: in the answer to its order, in the answer to the look-up, and in a row of the list.
#[derive(Deserialize)]
pub(super) struct Sent<'a> {
    #[serde(borrow, rename = "idEnvio")]
    pub(super) id_envio: Option<&'a RawValue>,
    #[serde(borrow, rename = "endToEndId")]
    pub(super) end_to_end_id: Option<&'a RawValue>,
    /// The older name of `endToEndId`.
    #[serde(borrow, rename = "e2eId")]
    pub(super) e2e_id: Option<&'a RawValue>,
    pub(super) valor: Option<&'a RawValue>,
    pub(super) status: Option<&'a RawValue>,
    pub(super) horario: Option<&'a RawValue>,
    pub(super) favorecido: Option<&'a RawValue>,
    pub(super) devolucoes: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "gnExtras")]
    pub(super) extras: Option<&'a RawValue>,
}

/// The instants of the request and of the settlement.
#[derive(Deserialize)]
pub(super) struct Times<'a> {
    #[serde(borrow)]
    pub(super) solicitacao: Option<&'a RawValue>,
    pub(super) liquidacao: Option<&'a RawValue>,
}

/// The recipient, identified by a Pix key or by an account number.
#[derive(Deserialize)]
pub(super) struct Favored<'a> {
    #[serde(borrow)]
    pub(super) chave: Option<&'a RawValue>,
    pub(super) identificacao: Option<&'a RawValue>,
    #[serde(borrow, rename = "contaBanco")]
    pub(super) conta_banco: Option<&'a RawValue>,
}

/// A person or company.
#[derive(Deserialize)]
pub(super) struct Identity<'a> {
    #[serde(borrow)]
    pub(super) nome: Option<&'a RawValue>,
    pub(super) cpf: Option<&'a RawValue>,
    pub(super) cnpj: Option<&'a RawValue>,
}

/// A returned part of a sent Pix.
#[derive(Deserialize)]
pub(super) struct SentReturn<'a> {
    #[serde(borrow, rename = "rtrId")]
    pub(super) rtr_id: Option<&'a RawValue>,
    pub(super) valor: Option<&'a RawValue>,
    /// The instant of the return, or an object; see [`Times`].
    pub(super) horario: Option<&'a RawValue>,
    pub(super) status: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Extras<'a> {
    #[serde(borrow)]
    pub(super) erro: Option<&'a RawValue>,
}

/// The reason of a failure.
#[derive(Deserialize)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub(super) codigo: Option<&'a RawValue>,
    pub(super) motivo: Option<&'a RawValue>,
}
