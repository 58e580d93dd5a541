//! Reads parts of JSON answers leniently: texts that may be numbers, and optional parts of any shape.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Returns a text, or a number as its digits; `None` for other values. An empty text stays empty.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    let raw = value.get();
    match raw.bytes().next() {
        Some(b'"') => serde_json::from_str(raw).ok(),
        Some(b'-' | b'0'..=b'9') => Some(raw.to_owned()),
        Some(_) | None => None,
    }
}

/// Parses a part leniently; `None` for another shape.
pub(crate) fn part<'a, T: Deserialize<'a>>(value: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::text;

    #[test]
    fn numbers_are_accepted_for_texts() {
        for (raw, wanted) in [
            (r#""a\u00e9""#, Some("aé")),
            ("12.50", Some("12.50")),
            ("-1", Some("-1")),
            (r#""""#, Some("")),
            ("null", None),
            ("true", None),
            ("[1]", None),
            (r#"{"a":1}"#, None),
        ] {
            let value = RawValue::from_string(raw.to_owned()).ok();
            assert_eq!(value.as_deref().and_then(text).as_deref(), wanted, "{raw}");
        }
    }
}
