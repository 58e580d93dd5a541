//! A minimal HTTP/1.1 parser (RFC 9112) for webhooks: three headers, and a body of known length.

use anyhow::{Context as _, Result, ensure};

use crate::http::END_OF_HEAD;

/// The largest webhook, in bytes.
const MAX_BYTES: usize = 1024 * 1024;

/// A received webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook<'a> {
    /// The header `webhook-id`.
    pub id: &'a [u8],
    /// The header `webhook-timestamp`.
    pub timestamp: &'a [u8],
    /// The header `webhook-signature`.
    pub signature: &'a [u8],
    /// The body.
    pub body: &'a [u8],
    /// The length of the whole request, in bytes.
    pub length: usize,
}

/// Parses the first webhook in `bytes`. Returns `None` while the request is incomplete.
///
/// # Errors
/// If the request is not a webhook.
pub fn read(bytes: &[u8]) -> Result<Option<Hook<'_>>> {
    ensure!(bytes.len() <= MAX_BYTES, "the request is too large");
    let Some(end) = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD) else { return Ok(None) };
    let head = bytes.get(..end).unwrap_or_default();
    ensure!(head.starts_with(b"POST "), "the request is not a POST: {}", String::from_utf8_lossy(head));
    let (mut id, mut timestamp, mut signature, mut length) = (None, None, None, None);
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        match name {
            name if name.eq_ignore_ascii_case(b"webhook-id") => id = Some(value),
            name if name.eq_ignore_ascii_case(b"webhook-timestamp") => timestamp = Some(value),
            name if name.eq_ignore_ascii_case(b"webhook-signature") => signature = Some(value),
            name if name.eq_ignore_ascii_case(b"content-length") => length = str::from_utf8(value)?.parse().ok(),
            _ => {}
        }
    }
    let length: usize = length.context("the request has no content-length")?;
    let start = end.saturating_add(END_OF_HEAD.len());
    let end = start.saturating_add(length);
    let Some(body) = bytes.get(start..end) else { return Ok(None) };
    let missing = "a header of Standard Webhooks is missing";
    Ok(Some(Hook {
        id: id.context(missing)?,
        timestamp: timestamp.context(missing)?,
        signature: signature.context(missing)?,
        body,
        length: end,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] =
        b"POST /0 HTTP/1.1\r\nWebhook-Id: evt_1\r\nwebhook-timestamp: 5\r\nwebhook-signature: v1,a v1,b\r\n\
        content-length: 2\r\n\r\n{}";

    #[test]
    fn webhook_is_parsed_once_complete() {
        for cut in 0..REQUEST.len() {
            assert_eq!(read(REQUEST.get(..cut).unwrap_or_default()).ok(), Some(None), "cut at {cut}");
        }
        let two = [REQUEST, REQUEST].concat();
        let hook = Hook { id: b"evt_1", timestamp: b"5", signature: b"v1,a v1,b", body: b"{}", length: REQUEST.len() };
        assert_eq!(read(&two).ok(), Some(Some(hook)));
    }

    #[test]
    fn request_that_is_no_webhook_is_refused() {
        assert!(read(b"GET / HTTP/1.1\r\n\r\n").is_err());
        assert!(read(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n").is_err());
        assert!(read(b"POST / HTTP/1.1\r\nwebhook-id: a\r\n\r\n").is_err());
    }
}
