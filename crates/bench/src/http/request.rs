//! Whole requests as bytes, with placeholders for a changing number.

use anyhow::{Context as _, Result};

/// The placeholder of a number with twelve digits.
const PLACE: &[u8] = b"############";

/// A request in which all placeholders get the same number.
#[derive(Debug, Clone)]
pub struct Template {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Template {
    /// Finds the placeholders `############` in a request.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        let windows = bytes.windows(PLACE.len()).enumerate();
        let places = windows.filter(|(_, window)| *window == PLACE).map(|(at, _)| at).collect();
        Self { bytes, places }
    }

    /// Returns the request with the last twelve digits of the number in all placeholders.
    ///
    /// # Errors
    /// None, unless a placeholder is outside the request.
    pub fn with(&mut self, number: u64) -> Result<&[u8]> {
        for place in &self.places {
            let digits = self
                .bytes
                .get_mut(*place..place.saturating_add(PLACE.len()))
                .context("a placeholder is outside the request")?;
            let mut rest = number;
            for digit in digits.iter_mut().rev() {
                *digit = b'0'.saturating_add(u8::try_from(rest % 10).unwrap_or_default());
                rest /= 10;
            }
        }
        Ok(&self.bytes)
    }
}

/// Returns a GET of `path` with an API key.
#[must_use]
pub fn get(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n\r\n").into_bytes()
}

/// Returns a GET of `path` with an API key. The answer is requested as CSV.
#[must_use]
pub fn get_csv(path: &str, key: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\naccept: text/csv\r\n\r\n")
        .into_bytes()
}

/// Returns a POST of a JSON body to `path`, with an API key. An empty `idempotency_key` is left out.
#[must_use]
pub fn post(path: &str, key: &str, idempotency_key: &str, body: &str) -> Vec<u8> {
    let idempotency_key = match idempotency_key {
        "" => String::new(),
        text => format!("idempotency-key: {text}\r\n"),
    };
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {key}\r\n{idempotency_key}\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_gets_the_number() {
        let mut template = Template::new(b"a############b############c".to_vec());
        assert_eq!(template.with(42).ok(), Some(&b"a000000000042b000000000042c"[..]));
        assert_eq!(template.with(1_234_567_890_123).ok(), Some(&b"a234567890123b234567890123c"[..]));
    }
}
