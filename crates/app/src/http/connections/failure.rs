//! Answers to what is no request yet: they belong to no route, and are written without the HTTP library.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::ids::RequestId;

use super::connection::Connection;
use crate::http::error::{ApiError, ErrorCode};
use crate::http::state::AppState;
use crate::http::telemetry::Answered;

/// The answer of `code` with the envelope, as it is sent; its connection ends after it.
pub fn answer(state: &Arc<AppState>, connection: &Connection, code: ErrorCode) -> Vec<u8> {
    let id = RequestId::new(state.ports.ids.next_uuid());
    let error = ApiError::new(code);
    let (status, body) = (code.status(), error.body(id));
    state.telemetry.record(&Answered {
        request: id,
        route: None,
        method: "",
        caller: None,
        status,
        code: Some(code.name()),
        cause: None,
        is_expected: false,
        replay_of: None,
        took: Duration::ZERO,
    });
    let _ = connection;
    let mut out = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\nx-request-id: {id}\r\n\r\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        body.len(),
    )
    .into_bytes();
    out.extend(body);
    out
}
