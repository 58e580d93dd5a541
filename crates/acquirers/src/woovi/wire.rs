//! Values of Woovi's wire format. Money is a whole number of centavos.

use cais_domain::money::Money;
use cais_ports::AcquirerError;
use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::http::{instant, text};

/// The largest amount, in centavos: twelve digits, as in the API Pix.
const MAX_CENTAVOS: i64 = 999_999_999_999;

/// Returns the wire form of an amount.
///
/// # Errors
/// [`AcquirerError::Refused`] for zero, a negative amount, and one with too many digits.
pub(super) fn to_cents(amount: Money) -> Result<i64, AcquirerError> {
    let centavos = amount.centavos();
    if (1..=MAX_CENTAVOS).contains(&centavos) {
        return Ok(centavos);
    }
    Err(AcquirerError::Refused("the acquirer's format cannot express the amount".to_owned()))
}

/// Parses an amount: a whole number above zero, as a JSON number or a JSON string. A number with a point or an exponent is no amount.
pub(super) fn cents(value: &RawValue) -> Option<Money> {
    let text = text(value)?;
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let centavos: i64 = is_whole.then(|| text.parse().ok()).flatten()?;
    (1..=MAX_CENTAVOS).contains(&centavos).then(|| Money::from_centavos(centavos))
}

/// Parses an instant.
pub(super) fn at(value: Option<&RawValue>) -> Option<Timestamp> {
    value.and_then(text).as_deref().and_then(instant)
}

/// Returns a text; `None` for an absent or empty text.
pub(super) fn non_empty_text(value: Option<&RawValue>) -> Option<String> {
    value.and_then(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::cents;

    #[test]
    fn amount_is_a_whole_number_of_centavos() {
        for (raw, wanted) in [
            ("1", Some(1)),
            ("1050", Some(1_050)),
            (r#""1050""#, Some(1_050)),
            ("999999999999", Some(999_999_999_999)),
            ("1000000000000", None),
            ("0", None),
            ("-1", None),
            ("10.0", None),
            ("10.5", None),
            ("1e3", None),
            (r#""10,50""#, None),
            (r#""""#, None),
            ("null", None),
            ("99999999999999999999", None),
        ] {
            let value = RawValue::from_string(raw.to_owned()).ok();
            let found = value.as_deref().and_then(cents).map(cais_domain::money::Money::centavos);
            assert_eq!(found, wanted, "{raw}");
        }
    }
}
