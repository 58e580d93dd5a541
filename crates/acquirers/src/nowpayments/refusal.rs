//! Refusals of NOWPayments: `{"status":false,"statusCode":400,"code":"…","message":"…"}`.

use cais_ports::AcquirerError;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::http::{Defect, Problem, Reply, of_problem, part, text};

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    /// The requested amount and our balance. Present only if our balance at the processor is too small.
    #[serde(borrow)]
    current_values: Option<&'a RawValue>,
}

/// A refusal with a code.
pub(super) struct Refusal {
    pub(super) problem: Problem,
    /// True if our balance at the processor is too small. A later request may then succeed.
    pub(super) lacks_balance: bool,
}

impl Refusal {
    /// Reads the refusal in an answer. Returns `None` if the answer has no code, for example if a proxy answered.
    pub(super) fn read(reply: &Reply) -> Option<Self> {
        if !reply.is_json {
            return None;
        }
        let envelope: Envelope<'_> = serde_json::from_slice(&reply.body).ok()?;
        let code = envelope.code.and_then(text).filter(|code| !code.is_empty())?;
        let message = envelope.message.and_then(text).unwrap_or_default();
        let lacks_balance = envelope.current_values.is_some_and(|values| values.get() != "null");
        Some(Self { problem: Problem::new(&code, &message), lacks_balance })
    }
}

/// Classifies an unsuccessful answer by its status and its refusal.
pub(super) fn of_reply(reply: &Reply) -> AcquirerError {
    of_problem(reply, Refusal::read(reply).map(|refusal| refusal.problem).as_ref())
}

/// Returns `true` if the status is successful and the body is the text `OK`, with or without quotes.
pub(super) fn is_ok(reply: &Reply) -> bool {
    let text = String::from_utf8_lossy(&reply.body);
    reply.status.is_success() && text.trim().trim_matches('"').eq_ignore_ascii_case("ok")
}

/// Parses a part of an answer. `field` names the part in the error.
pub(super) fn expect<'a, T: Deserialize<'a>>(value: &'a RawValue, field: &str) -> Result<T, Defect> {
    part(Some(value)).ok_or_else(|| Defect::mismatch(field, "cannot be read"))
}
