//! Formats of values. Requests and responses have instants of RFC 3339 with milliseconds, and amounts such as `"123.45"`. The journal (the
//! state file) has other forms of some values.

use cais_domain::money::Money;
use jiff::Timestamp;
use serde::Serializer;

/// The largest number of integer digits that the API Pix allows in an amount (pattern `\d{1,10}\.\d{2}`).
const MAX_INTEGER_DIGITS: usize = 10;

/// Formats an instant as `2026-01-02T03:04:05.678Z`.
#[must_use]
pub fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Serializes an instant in the form of [`instant`].
///
/// # Errors
/// Only errors of the serializer.
pub fn serialize_instant<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&instant(*at))
}

/// Serializes an optional instant in the form of [`instant`].
///
/// # Errors
/// Only errors of the serializer.
#[expect(clippy::ref_option, reason = "the signature that serde calls")]
pub fn serialize_optional_instant<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serialize_instant(at, serializer),
        None => serializer.serialize_none(),
    }
}

/// Parses an amount that matches `\d{1,10}\.\d{2}` exactly, the form of the API Pix.
#[must_use]
pub fn parse_strict_amount(text: &str) -> Option<Money> {
    let (integer, cents) = text.split_once('.')?;
    if cents.len() != 2 {
        return None;
    }
    centavos(integer, cents)
}

/// Parses an amount of a tester's request, with no, one or two decimals: `10`, `10.5` or `10.50`.
#[must_use]
pub fn parse_lenient_amount(text: &str) -> Option<Money> {
    match text.split_once('.') {
        None => centavos(text, "00"),
        Some((integer, cents)) if cents.len() == 1 => centavos(integer, &format!("{cents}0")),
        Some((integer, cents)) if cents.len() == 2 => centavos(integer, cents),
        Some(_) => None,
    }
}

fn centavos(integer: &str, cents: &str) -> Option<Money> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if integer.len() > MAX_INTEGER_DIGITS || !digits(integer) || !digits(cents) {
        return None;
    }
    let reais: i64 = integer.parse().ok()?;
    let rest: i64 = cents.parse().ok()?;
    Some(Money::from_centavos(reais.checked_mul(100)?.checked_add(rest)?))
}

/// Amounts as text such as `"123.45"`, for `#[serde(with = "wire::amount")]`.
pub mod amount {
    use cais_domain::money::Money;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes `"123.45"`.
    ///
    /// # Errors
    /// Only errors of the serializer.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub fn serialize<S: Serializer>(amount: &Money, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(amount)
    }

    /// Reads `"123.45"`.
    ///
    /// # Errors
    /// If the text does not have this form.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::parse_strict_amount(&text).ok_or_else(|| D::Error::custom("not an amount"))
    }
}

/// Amounts in the journal as integers in centavos, for `#[serde(with = "wire::centavos")]`. A balance has this form, because it may
/// have more digits than [`amount`] accepts.
pub mod centavos {
    use cais_domain::money::Money;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the number of centavos.
    ///
    /// # Errors
    /// Only errors of the serializer.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub fn serialize<S: Serializer>(amount: &Money, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(amount.centavos())
    }

    /// Reads the number of centavos.
    ///
    /// # Errors
    /// If the value is not an integer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
        i64::deserialize(deserializer).map(Money::from_centavos)
    }
}

/// Instants in the journal as microseconds since 1970, for `#[serde(with = "wire::micros")]`.
pub mod micros {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the number of microseconds.
    ///
    /// # Errors
    /// Only errors of the serializer.
    pub fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(at.as_microsecond())
    }

    /// Reads the number of microseconds.
    ///
    /// # Errors
    /// If the value is not an integer, or is outside the range of [`Timestamp`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        Timestamp::from_microsecond(i64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Optional instants in the journal, in the form of [`micros`], for `#[serde(with = "wire::optional_micros")]`.
pub mod optional_micros {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    /// Writes the number of microseconds, or null.
    ///
    /// # Errors
    /// Only errors of the serializer.
    #[expect(clippy::ref_option, reason = "the signature that serde calls")]
    pub fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        at.map(Timestamp::as_microsecond).serialize(serializer)
    }

    /// Reads the number of microseconds, or null.
    ///
    /// # Errors
    /// If the value is not an integer, or is outside the range of [`Timestamp`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        let micros = Option::<i64>::deserialize(deserializer)?;
        micros.map(|micros| Timestamp::from_microsecond(micros).map_err(D::Error::custom)).transpose()
    }
}

/// Situations of infractions in the journal, by their names in DICT (the Central Bank's directory of Pix keys). For
/// `#[serde(with = "wire::situation")]`.
pub mod situation {
    use cais_domain::infraction::Situation;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes a name such as `SCAM`.
    ///
    /// # Errors
    /// Only errors of the serializer.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub fn serialize<S: Serializer>(situation: &Situation, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(situation.as_str())
    }

    /// Reads the name.
    ///
    /// # Errors
    /// If the name is unknown.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Situation, D::Error> {
        let word = String::deserialize(deserializer)?;
        Situation::parse(&word).ok_or_else(|| D::Error::custom("not a situation"))
    }
}

/// Amounts as JSON numbers with two decimals, for `#[serde(with = "wire::number")]`.
pub mod number {
    use cais_domain::money::Money;
    use serde::{Serialize, Serializer, ser::Error};
    use serde_json::value::RawValue;

    /// Writes `123.45`.
    ///
    /// # Errors
    /// Only errors of the serializer.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub fn serialize<S: Serializer>(amount: &Money, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(amount.to_string()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn amounts_of_the_api_have_exactly_two_decimals() {
        let cases = [
            ("0.00", Some(0)),
            ("10.50", Some(1050)),
            ("9999999999.99", Some(999_999_999_999)),
            ("10.5", None),
            ("10", None),
            ("10.500", None),
            ("10000000000.00", None),
            ("-1.00", None),
            ("+1.00", None),
            (".50", None),
            ("1,00", None),
            (" 1.00", None),
            ("1.0a", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_strict_amount(text), expected.map(Money::from_centavos), "{text:?}");
        }
    }

    #[test]
    fn amounts_in_control_requests_may_omit_decimals() {
        for (text, expected) in
            [("10", Some(1000)), ("10.5", Some(1050)), ("10.50", Some(1050)), ("10.505", None), ("1e2", None)]
        {
            assert_eq!(parse_lenient_amount(text), expected.map(Money::from_centavos), "{text:?}");
        }
    }

    #[test]
    fn instants_and_amounts_have_the_wire_format() {
        assert_eq!(Money::from_centavos(123_456).to_string(), "1234.56");
        assert_eq!(instant("2026-01-02T03:04:05.6Z".parse().unwrap()), "2026-01-02T03:04:05.600Z");
    }
}
