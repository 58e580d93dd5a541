//! Parses and writes the values of NOWPayments. Identifiers and amounts are numbers in some answers and texts in others.

use cais_domain::crypto::{Address, CryptoAmount, Currency, ProcessorId, rounding};
use cais_domain::rate::Rounding;
use cais_ports::AcquirerError;
use jiff::Timestamp;
use serde_json::Number;
use serde_json::value::RawValue;

use crate::bacen::wire::line;
use crate::http::{Defect, instant, text};

/// The longest kept text of the processor, in characters. Longer texts are cut. The hash of a transaction has at most 66 characters.
const MAX_TEXT_CHARS: usize = 120;

/// Returns an identifier; `None` for an absent or empty one.
///
/// # Errors
/// [`Defect`] for a text that is no identifier.
pub(super) fn id(value: Option<&RawValue>, field: &str) -> Result<Option<ProcessorId>, Defect> {
    match short_text(value).as_deref() {
        // Some answers contain the string `null`.
        None | Some("null") => Ok(None),
        Some(text) => ProcessorId::parse(text).map(Some).map_err(|_| Defect::mismatch(field, "is not an identifier")),
    }
}

/// Returns a required identifier.
pub(super) fn required_id(value: Option<&RawValue>, field: &str) -> Result<ProcessorId, Defect> {
    id(value, field)?.ok_or_else(|| Defect::mismatch(field, "is missing"))
}

/// Returns the text as one line of at most [`MAX_TEXT_CHARS`] characters; `None` for an absent or empty text.
pub(super) fn short_text(value: Option<&RawValue>) -> Option<String> {
    value.and_then(text).and_then(|text| line(&text, MAX_TEXT_CHARS))
}

/// Parses a currency code in upper or lower case; `None` for an unsupported currency.
pub(super) fn currency(code: &str) -> Option<Currency> {
    Currency::parse(&code.to_ascii_lowercase()).ok()
}

/// Returns the amount, with digits beyond `decimals` rounded.
pub(super) fn rounded(
    value: Option<&RawValue>,
    field: &str,
    currency: Currency,
    (decimals, rounding): (u32, Rounding),
) -> Result<CryptoAmount, Defect> {
    let text = value.and_then(text).ok_or_else(|| Defect::mismatch(field, "is missing"))?;
    CryptoAmount::parse_rounded(currency, &text, decimals, rounding)
        .map_err(|error| Defect::mismatch(field, &error.to_string()))
}

/// Returns an amount without the digits below the smallest unit of the chain.
pub(super) fn rounded_down(value: Option<&RawValue>, field: &str, currency: Currency) -> Result<CryptoAmount, Defect> {
    rounded(value, field, currency, (currency.chain_decimals(), rounding::SHOWN_COINS))
}

/// Parses the blockchain address in a required field.
pub(super) fn address(value: Option<&RawValue>, field: &str, currency: Currency) -> Result<Address, Defect> {
    let text = value.and_then(text).ok_or_else(|| Defect::mismatch(field, "is missing"))?;
    Address::parse(currency, &text).map_err(|error| Defect::mismatch(field, &error.to_string()))
}

/// Returns the instant of a field; `None` if absent or unreadable.
pub(super) fn optional_instant(value: Option<&RawValue>) -> Option<Timestamp> {
    value.and_then(text).as_deref().and_then(instant)
}

/// Returns the amount as a JSON number with all its digits.
///
/// # Errors
/// [`AcquirerError::Refused`]. The error does not occur, because the text of an amount is always a number.
pub(super) fn number(amount: CryptoAmount) -> Result<Number, AcquirerError> {
    let refused = |_| AcquirerError::Refused("the acquirer's format cannot express the amount".to_owned());
    amount.to_string().parse().map_err(refused)
}
