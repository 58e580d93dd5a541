//! Responses to bytes that are not a valid request. The HTTP library writes such responses without a body. This module replaces them by
//! responses with the error envelope.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use cais_domain::ids::RequestId;

use crate::error::{ApiError, ErrorCode};
use crate::state::AppState;
use crate::telemetry::CompletedRequest;

/// The longest head that the library writes itself, in bytes: a status line, a length, a connection option and a date.
/// [`find_bare_response`] searches only this many bytes at the end.
const MAX_HEAD: usize = 160;
/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// Returns the bytes of an error response with the error envelope and `connection: close`. Counts and logs the response.
pub fn error_response(state: &Arc<AppState>, client: Option<IpAddr>, code: ErrorCode) -> Vec<u8> {
    let id = RequestId::new(state.ports.ids.next_uuid());
    let error = ApiError::new(code);
    let (status, body) = (code.status(), error.body(id));
    state.telemetry.record(&CompletedRequest {
        request: id,
        route: None,
        method: "",
        client,
        account: None,
        key: None,
        status,
        code: Some(code.name()),
        cause: None,
        is_expected: false,
        replay_of: None,
        trace_id: None,
        took: Duration::ZERO,
    });
    let sandbox = if state.sandbox.is_some() { "x-cais-sandbox: true\r\n" } else { "" };
    let mut out = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\
         x-content-type-options: nosniff\r\nreferrer-policy: same-origin\r\nx-request-id: {id}\r\n{sandbox}\r\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        body.len(),
    )
    .into_bytes();
    out.extend(body);
    out
}

/// Finds a response that the library wrote for a head that it cannot parse. Returns the position of the response in `written` and the error
/// code. Such a response has neither a body nor a request id; every other response has at least one of them. The library writes nothing
/// after such a response, so the response is the end of `written`.
pub fn find_bare_response(written: &[u8]) -> Option<(usize, ErrorCode)> {
    // Most responses end with a body, not with a head, so this check ends the search at once.
    if !written.ends_with(END) {
        return None;
    }
    let from = written.len().saturating_sub(MAX_HEAD);
    let tail = written.get(from..)?;
    let begin = tail.windows(7).rposition(|bytes| bytes == b"HTTP/1.")?;
    let head = str::from_utf8(tail.get(begin..)?).ok()?;
    let is_bare = head.contains("\r\ncontent-length: 0\r\n") && !head.contains("\r\nx-request-id: ");
    let code = match head.get(9..12).filter(|_| is_bare)? {
        "400" => ErrorCode::MalformedRequest,
        "431" => ErrorCode::HeadersTooLarge,
        _ => return None,
    };
    Some((from + begin, code))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "date: Sun, 22 Nov 2026 21:34:32 GMT\r\n\r\n";

    fn check(written: &str, expected: Option<(usize, ErrorCode)>) {
        assert_eq!(find_bare_response(written.as_bytes()), expected, "{written}");
    }

    #[test]
    fn library_responses_are_found_at_the_end() {
        let refused = format!("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n{DATE}");
        let too_large =
            format!("HTTP/1.0 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n{DATE}");
        let before =
            format!("HTTP/1.1 200 OK\r\ncontent-length: 15\r\nx-request-id: req_1\r\n{DATE}{{\"status\":\"ok\"}}");
        check(&refused, Some((0, ErrorCode::MalformedRequest)));
        check(&too_large, Some((0, ErrorCode::HeadersTooLarge)));
        check(&format!("{before}{refused}"), Some((before.len(), ErrorCode::MalformedRequest)));
        check(&before, None);
        check(&format!("{refused}{before}"), None);
    }

    #[test]
    fn responses_with_request_id_are_not_library_responses() {
        for head in [
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nx-request-id: req_1\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 120\r\n",
        ] {
            check(&format!("{head}{DATE}"), None);
        }
        check("", None);
        check("\r\n\r\n", None);
    }
}
