//! Bytes as hexadecimal digits (RFC 4648, section 8).

use std::borrow::Borrow;

/// Returns the bytes as digits in lower case, two for each byte.
pub fn encode(bytes: impl IntoIterator<Item: Borrow<u8>>) -> String {
    let digits = bytes.into_iter().flat_map(|byte| [byte.borrow() >> 4, byte.borrow() & 0x0f]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Returns the bytes of digits in either case; `None` for an odd number of digits, or another character.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16)?).ok();
    let (pairs, rest) = text.as_bytes().as_chunks();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_digits_convert_both_ways() {
        assert_eq!(encode([0x00, 0x9f, 0xa0, 0xff]), "009fa0ff");
        for (text, expected) in [
            ("009fA0Ff", Some(vec![0x00, 0x9f, 0xa0, 0xff])),
            ("", Some(vec![])),
            ("0", None),
            ("0g", None),
            ("+1", None),
            ("é", None),
        ] {
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
