//! The wire format of the API Pix. Answers are parsed leniently here and checked in `read`.

use std::borrow::Cow;

use cais_domain::document::Document;
use cais_domain::money::Money;
use cais_ports::{AcquirerError, ChargeOrder, RefundOrder};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The longest `solicitacaoPagador`, and the longest `descricao` of a return, in characters.
const MAX_REQUEST_CHARS: usize = 140;
/// The longest `nome` of a payer, in characters.
const MAX_NAME_CHARS: usize = 200;
/// The most digits before the decimal point of an amount.
const MAX_INTEGER_DIGITS: usize = 10;
/// The longest `expiracao`, an int32 of seconds.
const MAX_EXPIRATION_S: u32 = i32::MAX.unsigned_abs();

/// The only status of a charge that a receiver may request.
pub(super) const REMOVED_BY_US: &str = "REMOVIDA_PELO_USUARIO_RECEBEDOR";

#[derive(Serialize)]
struct CobRequest<'a> {
    calendario: CalendarRequest,
    #[serde(skip_serializing_if = "Option::is_none")]
    devedor: Option<Debtor<'a>>,
    valor: ValueRequest,
    chave: &'a str,
    #[serde(rename = "solicitacaoPagador", skip_serializing_if = "Option::is_none")]
    solicitacao_pagador: Option<String>,
}

#[derive(Serialize)]
struct CalendarRequest {
    expiracao: u32,
}

#[derive(Serialize)]
struct ValueRequest {
    original: String,
}

#[derive(Serialize)]
struct Debtor<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cpf: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnpj: Option<&'a str>,
    nome: String,
}

/// Returns the body of `PUT /v2/cob/{txid}`.
///
/// # Errors
/// [`AcquirerError::Refused`] for an order that the standard cannot express.
pub(super) fn charge_request(order: &ChargeOrder, key: &str) -> Result<Vec<u8>, AcquirerError> {
    let refused = |reason: &str| AcquirerError::Refused(reason.to_owned());
    let amount = amount_text(order.amount)?;
    if order.expires_in_s == 0 || order.expires_in_s > MAX_EXPIRATION_S {
        return Err(refused("the expiration of the charge is zero or too long"));
    }
    let body = CobRequest {
        calendario: CalendarRequest { expiracao: order.expires_in_s },
        devedor: order.payer.as_ref().and_then(debtor),
        valor: ValueRequest { original: amount },
        chave: key,
        solicitacao_pagador: order.description.as_deref().and_then(|text| line(text, MAX_REQUEST_CHARS)),
    };
    serde_json::to_vec(&body).map_err(|_| refused("the order cannot be written as JSON"))
}

fn debtor((document, name): &(Document, String)) -> Option<Debtor<'_>> {
    let nome = line(name, MAX_NAME_CHARS)?;
    let (cpf, cnpj) = match document {
        Document::Cpf(cpf) => (Some(cpf.as_str()), None),
        Document::Cnpj(cnpj) => (None, Some(cnpj.as_str())),
    };
    Some(Debtor { cpf, cnpj, nome })
}

/// The request for a return. The field `natureza` is not sent, so by the standard the return has the nature `ORIGINAL`.
#[derive(Serialize)]
struct ReturnRequest {
    valor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    descricao: Option<String>,
}

/// Returns the body of `PUT /v2/pix/{e2eid}/devolucao/{id}`.
///
/// # Errors
/// [`AcquirerError::Refused`] for an order that the standard cannot express.
pub(super) fn return_request(order: &RefundOrder) -> Result<Vec<u8>, AcquirerError> {
    let body = ReturnRequest {
        valor: amount_text(order.amount)?,
        descricao: order.description.as_deref().and_then(|text| line(text, MAX_REQUEST_CHARS)),
    };
    serde_json::to_vec(&body).map_err(|_| AcquirerError::Refused("the order cannot be written as JSON".to_owned()))
}

/// Returns an amount in the wire format.
///
/// # Errors
/// [`AcquirerError::Refused`] for zero, a negative amount, or an amount with too many digits.
pub(crate) fn amount_text(amount: Money) -> Result<String, AcquirerError> {
    let text = amount.to_string();
    if amount.is_positive() && is_wire_amount(&text) {
        return Ok(text);
    }
    Err(AcquirerError::Refused("the acquirer's format cannot express the amount".to_owned()))
}

/// Returns `text` as one line of at most `max` characters, with blanks in place of control characters; `None` if nothing is left.
pub(crate) fn line(text: &str, max: usize) -> Option<String> {
    let line: String =
        text.trim().chars().map(|character| if character.is_control() { ' ' } else { character }).take(max).collect();
    let line = line.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Returns `true` if the whole text matches `\d{1,10}\.\d{2}`.
fn is_wire_amount(text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(reais, centavos)| {
        (1..=MAX_INTEGER_DIGITS).contains(&reais.len()) && centavos.len() == 2 && digits(reais) && digits(centavos)
    })
}

/// Parses an amount in the wire format.
pub(super) fn parse_amount(text: &str) -> Option<Money> {
    is_wire_amount(text).then(|| Money::parse(text).ok()).flatten()
}

/// The body of `PATCH /v2/cob/{txid}`.
#[derive(Serialize)]
pub(super) struct Revision {
    pub(super) status: &'static str,
}

/// The body of `PUT /v2/webhook/{chave}`.
#[derive(Serialize)]
pub(super) struct CallbackBody<'a> {
    #[serde(rename = "webhookUrl")]
    pub(super) webhook_url: &'a str,
}

/// The body of the answer to `PUT /v2/webhook/{chave}`, which some institutions send.
#[derive(Deserialize)]
pub(super) struct Registered<'a> {
    #[serde(borrow, rename = "webhookUrl")]
    pub(super) webhook_url: Option<&'a RawValue>,
}

/// The standard's schemas `CobGerada` and `CobCompleta`. Required fields may be missing here, so that `read` can report
/// them.
#[derive(Deserialize)]
pub(super) struct Cob<'a> {
    #[serde(borrow)]
    pub(super) calendario: Option<Calendar<'a>>,
    #[serde(borrow)]
    pub(super) txid: Option<Cow<'a, str>>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) valor: Option<Value<'a>>,
    pub(super) chave: Option<Cow<'a, str>>,
    #[serde(rename = "pixCopiaECola")]
    pub(super) pix_copia_e_cola: Option<String>,
    /// Each Pix is parsed separately, so that the error contains the position of an unreadable Pix.
    pub(super) pix: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
pub(super) struct Calendar<'a> {
    #[serde(borrow)]
    pub(super) criacao: Option<Cow<'a, str>>,
    /// A number. The standard's own examples also show a string.
    pub(super) expiracao: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Value<'a> {
    #[serde(borrow)]
    pub(super) original: Option<Cow<'a, str>>,
}

/// A Pix within a charge.
#[derive(Deserialize)]
pub(super) struct Pix<'a> {
    #[serde(borrow, rename = "endToEndId")]
    pub(super) end_to_end_id: Option<Cow<'a, str>>,
    pub(super) txid: Option<Cow<'a, str>>,
    pub(super) valor: Option<Cow<'a, str>>,
    pub(super) horario: Option<Cow<'a, str>>,
    /// All returns of the Pix, also those that other systems requested.
    pub(super) devolucoes: Option<Vec<Return<'a>>>,
}

/// The standard's schema `Devolucao`: a return, as a record of its own or within its Pix.
#[derive(Deserialize)]
pub(super) struct Return<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(rename = "rtrId")]
    pub(super) rtr_id: Option<Cow<'a, str>>,
    pub(super) valor: Option<Cow<'a, str>>,
    /// Parsed leniently: a return with an unreadable value counts as ordinary.
    pub(super) natureza: Option<&'a RawValue>,
    pub(super) horario: Option<ReturnTimes<'a>>,
    pub(super) status: Option<Cow<'a, str>>,
    pub(super) motivo: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct ReturnTimes<'a> {
    #[serde(borrow)]
    pub(super) liquidacao: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::{line, parse_amount};

    #[test]
    fn amount_of_other_format_is_refused() {
        for (text, centavos) in [
            ("0.01", Some(1)),
            ("10.50", Some(1050)),
            ("9999999999.99", Some(999_999_999_999)),
            ("10000000000.00", None),
            ("10.5", None),
            ("10", None),
            (".50", None),
            ("1e2", None),
            ("-1.00", None),
            ("+1.00", None),
            ("1,00", None),
            ("10.500", None),
            ("", None),
        ] {
            let found = parse_amount(text).map(cais_domain::money::Money::centavos);
            assert_eq!(found, centavos, "{text}");
        }
    }

    #[test]
    fn texts_become_one_bounded_line() {
        for (text, wanted) in [
            ("a\r\nb\tc", Some("a  b c")),
            ("  x  ", Some("x")),
            ("áéíóúxy", Some("áéíóúx")),
            ("\n\n", None),
            ("", None),
        ] {
            assert_eq!(line(text, 6).as_deref(), wanted, "{text:?}");
        }
    }
}
