//! The table of what a failure means: certainly not done, refused for good, or unknown.

use cais_ports::AcquirerError;

use super::exchange::{Reply, TransportError};
use super::problem::Problem;

/// What an answer that is no success means for the request.
///
/// 401, 403 and 429 are certain whoever answers them; another 4xx only when its body names the refusal, because a proxy on
/// the way may answer anything. Everything else, every 5xx too, may hide a request that was carried out.
pub(crate) fn of_reply(reply: &Reply) -> AcquirerError {
    let status = reply.status.as_u16();
    let problem = Problem::read(reply);
    let reason = match &problem {
        Some(problem) => format!("{status} {problem}"),
        None => format!("{status} without a readable problem"),
    };
    match status {
        401 | 403 | 429 => AcquirerError::Unavailable(reason),
        // The server gave up waiting; whether it began is not said.
        408 => AcquirerError::OutcomeUnknown(reason),
        400..=499 if problem.is_some() => AcquirerError::Refused(reason),
        _ => AcquirerError::OutcomeUnknown(reason),
    }
}

/// What a missing answer means for the request.
pub(crate) fn of_transport(error: TransportError) -> AcquirerError {
    match error {
        TransportError::NotSent(reason) => AcquirerError::Unavailable(reason),
        TransportError::Lost(reason) => AcquirerError::OutcomeUnknown(reason),
    }
}

#[cfg(test)]
mod tests {
    use cais_ports::AcquirerError;
    use reqwest::StatusCode;

    use super::{Reply, of_reply};

    #[test]
    fn only_named_refusals_and_the_doorkeepers_are_certain() {
        let problem = r#"{"type":"https://pix.bcb.gov.br/api/v2/error/X","title":"t","status":1}"#;
        let html = "<html>";
        for (status, body, wanted) in [
            (400, problem, "refused"),
            (404, problem, "refused"),
            (409, problem, "refused"),
            (410, problem, "refused"),
            (422, problem, "refused"),
            (400, html, "unknown"),
            (404, html, "unknown"),
            (422, html, "unknown"),
            (408, problem, "unknown"),
            (401, html, "unavailable"),
            (403, html, "unavailable"),
            (429, html, "unavailable"),
            (401, problem, "unavailable"),
            (403, problem, "unavailable"),
            (429, problem, "unavailable"),
            (301, html, "unknown"),
            (307, problem, "unknown"),
            (500, problem, "unknown"),
            (502, html, "unknown"),
            (503, problem, "unknown"),
            (504, problem, "unknown"),
        ] {
            let reply = Reply {
                status: StatusCode::from_u16(status).unwrap_or_default(),
                is_json: body == problem,
                body: body.as_bytes().to_vec(),
            };
            let found = match of_reply(&reply) {
                AcquirerError::Refused(_) => "refused",
                AcquirerError::Unavailable(_) => "unavailable",
                AcquirerError::OutcomeUnknown(_) => "unknown",
            };
            assert_eq!(found, wanted, "{status} {body}");
        }
    }
}
