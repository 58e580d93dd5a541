//! Refusals of Woovi: `{"error":"text"}`, seldom with an `errorCode`. Nearly every refusal is a 400.
//!
//! The texts are prose, in Portuguese or English, and no list of them exists. A text is recognized by its words. A text
//! that is not recognized never proves that an object is absent.

use cais_ports::AcquirerError;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::{Defect, FindError, Problem, Reply, folded, of_problem, part, text};

/// The kind of the [`Problem`] of a refusal without a code.
const NO_CODE: &str = "error";
/// Phrases of an absence.
const ABSENT: [&str; 5] = ["not found", "nao encontrad", "nao foi encontrad", "nao existe", "does not exist"];
/// Words of other objects. A missing account, key or path does not prove that the record is absent.
const OTHER_OBJECTS: [&str; 12] = [
    "conta",
    "account",
    "chave",
    "key",
    "empresa",
    "company",
    "aplica",
    "application",
    "rota",
    "route",
    "path",
    "appid",
];
/// Phrases of an identifier that exists already.
const TAKEN: [&str; 5] = ["ja existe", "already exist", "duplicat", "duplicad", "ja foi utilizad"];
/// Phrases of temporary reasons: the balance and the limits of the account at Woovi.
const PASSES: [&str; 8] =
    ["saldo", "balance", "alias limit", "transfer limit", "limite", "rate limit", "tente novamente", "try again"];

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow, rename = "errorCode")]
    code: Option<&'a RawValue>,
}

/// A refusal with a text.
pub(super) struct Refusal {
    problem: Problem,
    /// The code and the text without case, accents and underscores.
    words: String,
}

impl Refusal {
    /// Reads the refusal in an answer. Returns `None` if `error` has no text, for example if a proxy answered.
    pub(super) fn read(reply: &Reply) -> Option<Self> {
        if !reply.is_json {
            return None;
        }
        let envelope: Envelope<'_> = part_of(&reply.body)?;
        let shown = |value: Option<&RawValue>| value.and_then(text).filter(|text| !text.trim().is_empty());
        let (message, code) = (shown(envelope.error)?, shown(envelope.code));
        let words = folded(&format!("{} {message}", code.as_deref().unwrap_or_default())).replace('_', " ");
        Some(Self { problem: Problem::new(code.as_deref().unwrap_or(NO_CODE), &message), words })
    }

    /// Returns whether the text reports that one of `objects` does not exist. `objects` are in lower case without
    /// accents.
    fn names_absence_of(&self, objects: &[&str]) -> bool {
        self.has(&ABSENT) && self.has(objects) && !self.has(&OTHER_OBJECTS)
    }

    /// Returns whether the text reports that the identifier of the request exists already.
    pub(super) fn names_duplicate(&self) -> bool {
        self.has(&TAKEN)
    }

    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(word))
    }
}

fn part_of<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

/// Returns whether an answer reports that one of `objects` does not exist.
///
/// Woovi reports absences with 400. A 404 with an unrecognized text may come from a server without the path.
pub(super) fn is_absence(reply: &Reply, objects: &[&str]) -> bool {
    matches!(reply.status.as_u16(), 400 | 404)
        && Refusal::read(reply).is_some_and(|refusal| refusal.names_absence_of(objects))
}

/// Returns whether an answer reports that the identifier of the request exists already.
pub(super) fn is_duplicate(reply: &Reply) -> bool {
    matches!(reply.status.as_u16(), 400 | 409) && Refusal::read(reply).is_some_and(|refusal| refusal.names_duplicate())
}

/// Classifies an unsuccessful answer by its status and its refusal.
pub(super) fn of_reply(reply: &Reply) -> AcquirerError {
    of_problem(reply, Refusal::read(reply).map(|refusal| refusal.problem).as_ref())
}

/// Classifies an unsuccessful answer to an order. An order that Woovi may have executed must not count as refused.
///
/// Only a 400 with a text is a refusal. If the identifier exists already, the outcome is unknown. A temporary reason is
/// classified as `Unavailable`. The text of a refusal is shown to the merchant.
pub(super) fn of_order(reply: &Reply) -> AcquirerError {
    let failure = of_reply(reply);
    let AcquirerError::Refused(reason) = failure else { return failure };
    match Refusal::read(reply) {
        Some(refusal) if reply.status.as_u16() == 400 && !refusal.names_duplicate() => {
            if refusal.has(&PASSES) {
                AcquirerError::Unavailable(reason)
            } else {
                AcquirerError::Refused(refusal.problem.message().to_owned())
            }
        }
        Some(_) | None => AcquirerError::OutcomeUnknown(reason),
    }
}

/// Parses the object in a field of an answer. An answer without the object is unreadable.
pub(super) fn object<'a, T: Deserialize<'a>>(value: Option<&'a RawValue>, name: &str) -> Result<T, FindError> {
    part(value).ok_or_else(|| Defect::Unreadable(format!("the answer has no {name}")).into())
}

#[cfg(test)]
mod tests {
    use cais_ports::AcquirerError;
    use reqwest::StatusCode;

    use super::{Reply, is_absence, is_duplicate, of_order};

    fn reply(status: u16, body: &str) -> Reply {
        Reply {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            is_json: true,
            date: None,
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn absence_is_named_by_object_and_phrase() {
        for (status, body, wanted) in [
            (400, r#"{"error":"Payment not found"}"#, true),
            (400, r#"{"error":"Pagamento não encontrado"}"#, true),
            (404, r#"{"error":"Nenhum PAGAMENTO foi achado: não existe"}"#, true),
            (400, r#"{"error":"not there","errorCode":"PAYMENT_NOT_FOUND"}"#, true),
            (404, r#"{"error":"x","errorCode":"PAYMENT_DOES_NOT_EXIST"}"#, true),
            (400, r#"{"error":"Charge not found"}"#, false),
            (400, r#"{"error":"Conta do pagamento não encontrada"}"#, false),
            (400, r#"{"error":"Payment account not found"}"#, false),
            (400, r#"{"error":"Chave Pix do pagamento não encontrada"}"#, false),
            (404, r#"{"error":"Not Found"}"#, false),
            (404, r#"{"error":"The path of payment was not found"}"#, false),
            (400, r#"{"error":"Pagamento inválido"}"#, false),
            (400, r#"{"message":"payment not found"}"#, false),
            (400, r#"{"error":{"code":"payment not found"}}"#, false),
            (500, r#"{"error":"Payment not found"}"#, false),
            (403, r#"{"error":"Payment not found"}"#, false),
            (200, r#"{"error":"Payment not found"}"#, false),
        ] {
            assert_eq!(is_absence(&reply(status, body), &["payment", "pagamento"]), wanted, "{status} {body}");
        }
    }

    #[test]
    fn order_is_refused_only_by_a_400_with_a_text() {
        for (status, body, wanted) in [
            (400, r#"{"error":"Chave Pix inválida"}"#, "refused: Chave Pix inválida"),
            (400, r#"{"error":"inválida","errorCode":"PIX_KEY_INFO_NOT_FOUND"}"#, "refused: inválida"),
            (
                400,
                r#"{"error":"Já existe um pagamento com o correlationID fornecido"}"#,
                "unknown: 400 error: Já existe um pagamento com o correlationID fornecido",
            ),
            (
                400,
                r#"{"error":"Você não possui saldo o suficiente"}"#,
                "unavailable: 400 error: Você não possui saldo o suficiente",
            ),
            (400, r#"{"error":"x","errorCode":"ALIAS_LIMIT_ERROR"}"#, "unavailable: 400 ALIAS_LIMIT_ERROR: x"),
            (400, r#"{"error":""}"#, "unknown: 400 without a readable problem"),
            (400, "{}", "unknown: 400 without a readable problem"),
            (404, r#"{"error":"Not Found"}"#, "unknown: 404 error: Not Found"),
            (405, r#"{"error":"no"}"#, "unknown: 405 error: no"),
            (422, r#"{"error":"no"}"#, "unknown: 422 error: no"),
            (403, r#"{"error":"no"}"#, "unavailable: 403 error: no"),
            (429, r#"{"error":"no"}"#, "unavailable: 429 error: no"),
            (
                401,
                r#"{"data":null,"errors":[{"message":"appID inválido"}]}"#,
                "unavailable: 401 without a readable problem",
            ),
            (500, r#"{"error":"no"}"#, "unknown: 500 error: no"),
        ] {
            let found = match of_order(&reply(status, body)) {
                AcquirerError::Refused(text) => format!("refused: {text}"),
                AcquirerError::Unavailable(text) => format!("unavailable: {text}"),
                AcquirerError::OutcomeUnknown(text) => format!("unknown: {text}"),
            };
            assert_eq!(found, wanted, "{status} {body}");
        }
    }

    #[test]
    fn taken_name_is_recognized_in_both_languages() {
        for (body, wanted) in [
            (r#"{"error":"Já existe um pagamento com o correlationID fornecido"}"#, true),
            (r#"{"error":"A charge with this correlationID already exists"}"#, true),
            (r#"{"error":"correlationID duplicado"}"#, true),
            (r#"{"error":"correlationID inválido"}"#, false),
        ] {
            assert_eq!(is_duplicate(&reply(400, body)), wanted, "{body}");
        }
    }
}
