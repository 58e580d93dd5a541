//! The rules of the API Pix 2.9.0 for the fields of answers.

use cais_domain::br_code::BrCode;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use serde_json::Value;

use super::ContractStep;
use crate::bacen::wire::parse_amount;
use crate::http::instant;

/// The text in place of secrets and personal data.
pub(super) const MASK: &str = "***";
/// The fields with secrets or personal data. A Pix key can be a CPF. A callback address is secret, because its path
/// proves that a callback comes from the acquirer.
const MASKED: [&str; 10] = [
    "access_token",
    "refresh_token",
    "id_token",
    "client_secret",
    "cpf",
    "cnpj",
    "nome",
    "infoPagador",
    "webhookUrl",
    "chave",
];

/// Returns whether the values of the field `field` are masked.
pub(super) fn is_masked(field: &str) -> bool {
    MASKED.contains(&field)
}

/// The rule that the value of a field must meet.
#[derive(Clone, Copy)]
pub(super) enum Rule<'a> {
    /// Exactly this text.
    Is(&'a str),
    /// A text of this list.
    OneOf(&'a [&'a str]),
    /// An amount as a text with two decimals.
    Amount,
    /// RFC 3339 with an offset.
    Instant,
    /// A whole number.
    Number,
    /// An array.
    Array,
    /// A BR Code with a valid checksum.
    Code,
    /// The identifier of a Pix.
    EndToEndId,
    /// The identifier of a return.
    ReturnId,
}

impl Rule<'_> {
    fn is_met(self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Self::Is(expected) => text == Some(expected),
            Self::OneOf(words) => text.is_some_and(|text| words.contains(&text)),
            Self::Amount => text.and_then(parse_amount).is_some(),
            Self::Instant => text.and_then(instant).is_some(),
            Self::Number => value.is_u64(),
            Self::Array => value.is_array(),
            Self::Code => text.is_some_and(|text| BrCode::parse(text).is_ok()),
            Self::EndToEndId => text.is_some_and(|text| EndToEndId::parse(text).is_ok()),
            Self::ReturnId => text.is_some_and(|text| ReturnId::parse(text).is_ok()),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Is(expected) => format!("the text {expected}"),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Amount => "a text with digits, a point and two decimals".to_owned(),
            Self::Instant => "an instant of RFC 3339 with an offset".to_owned(),
            Self::Number => "a whole number".to_owned(),
            Self::Array => "an array".to_owned(),
            Self::Code => "a code with a valid checksum".to_owned(),
            Self::EndToEndId => "an end-to-end id of 32 characters".to_owned(),
            Self::ReturnId => "a return id of 32 characters".to_owned(),
        }
    }
}

/// Checks one field, and records a missing or wrong value as a divergence. `at` contains the field. `path` has points between names.
pub(super) fn field(step: &mut ContractStep, at: &Value, path: &str, rule: Rule<'_>) {
    let found = path.split('.').try_fold(at, |value, name| value.get(name));
    match found {
        None | Some(Value::Null) => step.diverge(format_args!("{path} is missing: the standard requires it")),
        Some(value) if rule.is_met(value) => {}
        Some(_) if path.rsplit('.').next().is_some_and(is_masked) => {
            step.diverge(format_args!("{path} differs from the value that was requested"));
        }
        Some(value) => step.diverge(format_args!("{path} is {value}: the standard requires {}", rule.text())),
    }
}

/// Checks the status of the answer. A step without an answer passes this check.
pub(super) fn status(step: &mut ContractStep, expected: &[u16]) {
    let Some(found) = step.status else { return };
    if !expected.contains(&found) {
        let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
        step.diverge(format_args!("the status is {found}: the standard requires {}", expected.join(" or ")));
    }
}

/// Checks the body of an error answer, which must be a problem of RFC 7807.
pub(super) fn problem(step: &mut ContractStep, answer: &Value) {
    const TYPE: &str = "https://pix.bcb.gov.br/api/v2/error/";
    match answer.get("type").and_then(Value::as_str) {
        Some(kind) if kind.starts_with(TYPE) => {}
        Some(kind) => step.diverge(format_args!("type is {kind}: the standard requires {TYPE}…")),
        None => step.diverge("type is missing: the standard requires a problem of RFC 7807"),
    }
}
