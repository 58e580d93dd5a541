//! Percent-encoding of paths and query strings (RFC 3986, section 2.1), decoded exactly once.

/// Decodes a path segment; `None` if an escape is malformed or the bytes are not UTF-8.
#[must_use]
pub fn decode(text: &str) -> Option<String> {
    decode_bytes(text.bytes())
}

/// Decodes a query's name or value, where `+` is a blank.
#[must_use]
pub fn decode_form(text: &str) -> Option<String> {
    decode_bytes(text.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }))
}

fn decode_bytes(mut bytes: impl Iterator<Item = u8>) -> Option<String> {
    let mut decoded = Vec::with_capacity(bytes.size_hint().0);
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' { escaped(bytes.next(), bytes.next())? } else { byte });
    }
    String::from_utf8(decoded).ok()
}

fn escaped(high: Option<u8>, low: Option<u8>) -> Option<u8> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::{decode, decode_form};

    #[test]
    fn escapes_are_resolved_once_and_strictly() {
        for (text, expected) in [
            ("ext:a%2Fb", Some("ext:a/b")),
            ("%2525", Some("%25")),
            ("caf%C3%a9", Some("café")),
            ("a+b", Some("a+b")),
            ("%", None),
            ("%2", None),
            ("%zz", None),
            ("%ff", None),
        ] {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
        assert_eq!(decode_form("a+b%2B").as_deref(), Some("a b+"));
    }
}
