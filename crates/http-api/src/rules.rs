//! Rules for single values of a body: amounts, texts, addresses.

use cais_domain::document::Document;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_domain::text::{LineBreaks, Text};
pub use cais_strict_json::rules::{flag, integer, list, number, string};
use cais_strict_json::{Node, Problem};

/// Characters beside letters and digits in an e-mail's local part (RFC 5322, `atext` and the dot).
const LOCAL_PUNCTUATION: &[u8] = b"!#$%&'*+-/=?^_`{|}~.";
/// The longest local part of an e-mail address (RFC 5321, section 4.5.3.1.1).
const MAX_LOCAL_BYTES: usize = 64;
/// The longest label of a domain (RFC 1035, section 2.3.4).
const MAX_LABEL_BYTES: usize = 63;

/// Reads an amount in BRL of at least `least`.
///
/// # Errors
/// The value is not a number, has more than two decimals, or is too large or too small.
pub fn money(node: &Node<'_>, least: Money) -> Result<Money, Problem> {
    let amount = Money::parse(number(node)?).map_err(|error| Problem::from(error.to_string()))?;
    if amount < least { Err(format!("must be at least {least}").into()) } else { Ok(amount) }
}

/// Reads a text of at most `max_chars` characters.
///
/// # Errors
/// The value is not a string, is too long, or has control characters.
pub fn text(node: &Node<'_>, max_chars: usize, line_breaks: LineBreaks) -> Result<Text, Problem> {
    Text::parse(string(node)?, max_chars, line_breaks).map_err(|error| error.to_string().into())
}

/// Reads the caller's own identifier of a resource.
///
/// # Errors
/// The value is not a string, is empty or too long, or has control characters.
pub fn external_id(node: &Node<'_>) -> Result<ExternalId, Problem> {
    ExternalId::parse(string(node)?).map_err(|error| error.to_string().into())
}

/// Reads the end-to-end id of a Pix.
///
/// # Errors
/// The value is not an end-to-end id.
pub fn end_to_end_id(node: &Node<'_>) -> Result<EndToEndId, Problem> {
    EndToEndId::parse(string(node)?).map_err(|error| error.to_string().into())
}

/// Reads a valid CPF or CNPJ of at most `max_chars` characters, punctuation included.
///
/// # Errors
/// The value is not such a document.
pub fn document(node: &Node<'_>, max_chars: usize) -> Result<Document, Problem> {
    let text = text(node, max_chars, LineBreaks::Refused)?;
    Document::parse(text.as_str()).map_err(|error| format!("is not a valid CPF or CNPJ: {error}").into())
}

/// Reads a percentage above 0 and at most 100, with at most four decimals.
///
/// # Errors
/// The value is not such a percentage.
pub fn share(node: &Node<'_>) -> Result<Percentage, Problem> {
    let share = Percentage::parse(number(node)?).map_err(|error| Problem::from(error.to_string()))?;
    if share.is_zero() { Err("must be greater than 0".into()) } else { Ok(share) }
}

/// Reads an e-mail address of at most `max_chars` characters. Returns the address in lower case, as accounts store it.
///
/// # Errors
/// The value is not such an address.
pub fn email(node: &Node<'_>, max_chars: usize) -> Result<String, Problem> {
    let text = text(node, max_chars, LineBreaks::Refused)?.into_string();
    let well_formed =
        text.split_once('@').is_some_and(|(local, domain)| is_local(local) && domain.split('.').all(is_label));
    if well_formed { Ok(text.to_ascii_lowercase()) } else { Err("must be an e-mail address".into()) }
}

fn is_local(local: &str) -> bool {
    local.len() <= MAX_LOCAL_BYTES
        && local.split('.').all(|part| !part.is_empty())
        && local.bytes().all(|byte| byte.is_ascii_alphanumeric() || LOCAL_PUNCTUATION.contains(&byte))
}

fn is_label(label: &str) -> bool {
    !label.is_empty()
        && label.len() <= MAX_LABEL_BYTES
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
mod tests;
