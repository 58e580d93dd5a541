//! Converts bytes to hexadecimal digits and back (RFC 4648, section 8).

use std::borrow::Borrow;

/// Returns the bytes as lower-case digits, two digits per byte.
pub fn encode(bytes: impl IntoIterator<Item: Borrow<u8>>) -> String {
    let digits = bytes.into_iter().flat_map(|byte| [byte.borrow() >> 4, byte.borrow() & 0x0f]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Returns the bytes of hexadecimal digits in upper or lower case. Returns `None` if the number of digits is odd or a
/// character is not a digit.
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
