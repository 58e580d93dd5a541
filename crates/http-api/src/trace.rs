//! The trace that a request is part of (W3C Trace Context, `traceparent`).

use std::sync::Arc;

use actix_web::http::header::{HeaderMap, HeaderName};
use cais_domain::ids::RequestId;
use tokio::task::futures::TaskLocalFuture;

tokio::task_local! {
    static CURRENT: Option<Arc<str>>;
}

/// Runs `work`. Within it, [`current()`] returns this `traceparent`.
pub fn scope<F: Future>(traceparent: Option<Arc<str>>, work: F) -> TaskLocalFuture<Option<Arc<str>>, F> {
    CURRENT.scope(traceparent, work)
}

/// Returns the `traceparent` of the running task; `None` without a trace. The header is sent with calls to other machines, and is passed to
/// tasks that continue the work.
#[must_use]
pub fn current() -> Option<Arc<str>> {
    CURRENT.try_with(Clone::clone).ok().flatten()
}

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The trace of a request, as the caller sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace<'h> {
    /// The trace id, 32 hexadecimal digits.
    pub id: &'h str,
    flags: &'h str,
}

impl Trace<'_> {
    /// Returns the header for calls within a request: the same trace, with the request as parent.
    ///
    /// The span id is the second half of the request's id. This half is random, and its variant bits keep it from being zero.
    #[must_use]
    pub fn traceparent(&self, request: RequestId) -> Arc<str> {
        let (_, span) = request.uuid().as_u64_pair();
        format!("00-{}-{span:016x}-{}", self.id, self.flags).into()
    }
}

/// Returns the trace of a request; `None` if the header is missing or violates section 3.2 of W3C Trace Context.
#[must_use]
pub fn of(headers: &HeaderMap) -> Option<Trace<'_>> {
    let mut values = headers.get_all(TRACEPARENT);
    let value = values.next().filter(|_| values.next().is_none())?.to_str().ok()?;
    let mut parts = value.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    // Later versions may have more parts.
    let is_known = version != "ff" && (version != "00" || parts.next().is_none());
    let is_valid = is_hex(version, 2) && is_id(trace, 32) && is_id(parent, 16) && is_hex(flags, 2);
    // Only the lowest bit, "sampled", has a meaning. The other bits are not passed on.
    let flags = if flags.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']) { "01" } else { "00" };
    (is_known && is_valid).then_some(Trace { id: trace, flags })
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
            assert_eq!(of(&headers).map(|trace| trace.id), expected.then_some(trace), "{value}");
        }
        assert_eq!(of(&HeaderMap::new()), None);
    }

    #[test]
    fn traceparent_of_calls_has_the_trace_and_another_parent() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let request = RequestId::new(uuid::Uuid::from_u64_pair(0x0193_0000_0000_7000, 0x8000_0000_0000_00ff));
        for (flags, passed_on) in [("01", "01"), ("00", "00"), ("03", "01"), ("fe", "00")] {
            let mut headers = HeaderMap::new();
            headers.insert(TRACEPARENT, format!("00-{trace}-{parent}-{flags}").parse().unwrap());
            let sent = of(&headers).unwrap().traceparent(request);
            assert_eq!(&*sent, format!("00-{trace}-80000000000000ff-{passed_on}"));
        }
    }
}
