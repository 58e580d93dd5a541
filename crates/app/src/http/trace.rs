//! The trace that a request is part of (W3C Trace Context, `traceparent`).

use actix_web::http::header::{HeaderMap, HeaderName};

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The trace id of a request; `None` without the header, and where it breaks the rules of section 3.2 of the recommendation.
#[must_use]
pub fn id(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(TRACEPARENT);
    let value = values.next().filter(|_| values.next().is_none())?.to_str().ok()?;
    let mut parts = value.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // Later versions may have more parts.
    let is_known = version != "ff" && (version != "00" || parts.next().is_none());
    let is_valid = is_hex(version, 2) && is_id(trace, 32) && is_id(parent, 16) && is_hex(flags, 2);
    (is_known && is_valid).then_some(trace)
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_id(text: &str, digits: usize) -> bool {
    is_hex(text, digits) && text.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn trace_id_is_read_from_a_valid_header_only() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        for (value, expected) in [
            (format!("00-{trace}-{parent}-01"), true),
            (format!("01-{trace}-{parent}-01-more"), true),
            (format!("00-{trace}-{parent}-01-more"), false),
            (format!("ff-{trace}-{parent}-01"), false),
            (format!("00-{trace}-{parent}"), false),
            (format!("00-{}-{parent}-01", trace.to_uppercase()), false),
            (format!("00-{}-{parent}-01", "0".repeat(32)), false),
            (format!("00-{trace}-{}-01", "0".repeat(16)), false),
            (String::new(), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(TRACEPARENT, value.parse().unwrap());
            assert_eq!(id(&headers), expected.then_some(trace), "{value}");
        }
        assert_eq!(id(&HeaderMap::new()), None);
    }
}
