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

/// The kind of a refusal that holds for a while only: too many keys were looked up in the directory.
const BUCKET_EMPTY: &str = "balde_fichas_vazio";

/// What an answer that is no success means for money that was to go out.
///
/// As for other requests, but a refusal must say what it is: one with only a title is what a server on the way would answer,
/// and the money would be given back while it leaves. The words of a refusal are for the merchant. It serves as well for
/// whatever else must be neither lost nor done twice.
pub(crate) fn of_money_out(reply: &Reply) -> AcquirerError {
    let failure = of_reply(reply);
    let AcquirerError::Refused(reason) = failure else { return failure };
    match Problem::read(reply) {
        Some(problem) if problem.is(BUCKET_EMPTY) => AcquirerError::Unavailable(reason),
        Some(problem) if problem.is_typed() => AcquirerError::Refused(problem.message().to_owned()),
        Some(_) | None => AcquirerError::OutcomeUnknown(reason),
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

    use super::{Reply, of_money_out, of_reply};

    fn reply(status: u16, is_json: bool, body: &str) -> Reply {
        Reply { status: StatusCode::from_u16(status).unwrap_or_default(), is_json, body: body.as_bytes().to_vec() }
    }

    fn named(error: &AcquirerError) -> &'static str {
        match error {
            AcquirerError::Refused(_) => "refused",
            AcquirerError::Unavailable(_) => "unavailable",
            AcquirerError::OutcomeUnknown(_) => "unknown",
        }
    }

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
            let found = of_reply(&reply(status, body == problem, body));
            assert_eq!(named(&found), wanted, "{status} {body}");
        }
    }

    #[test]
    fn money_that_was_to_go_out_is_refused_only_by_what_names_itself() {
        let nome = r#"{"nome":"chave_invalida","mensagem":"A chave informada é inválida."}"#;
        let bucket = r#"{"nome":"balde_fichas_vazio","mensagem":"Sem fichas."}"#;
        let standard =
            r#"{"type":"https://pix.bcb.gov.br/api/v2/error/PixDevolucaoInvalida","title":"Devolução inválida."}"#;
        let untyped = r#"{"type":"about:blank","title":"Bad Request"}"#;
        for (status, body, wanted, said) in [
            (400, nome, "refused", "A chave informada é inválida."),
            (404, nome, "refused", "A chave informada é inválida."),
            (422, r#"{"nome":"pagamento_negado"}"#, "refused", "pagamento_negado"),
            (400, standard, "refused", "Devolução inválida."),
            (400, untyped, "unknown", "400 Bad Request"),
            (404, untyped, "unknown", "404 Bad Request"),
            (400, bucket, "unavailable", "400 balde_fichas_vazio: Sem fichas."),
            (429, bucket, "unavailable", "429 balde_fichas_vazio: Sem fichas."),
            (403, nome, "unavailable", "403 chave_invalida: A chave informada é inválida."),
            (500, nome, "unknown", "500 chave_invalida: A chave informada é inválida."),
        ] {
            let found = of_money_out(&reply(status, true, body));
            let (AcquirerError::Refused(text) | AcquirerError::Unavailable(text) | AcquirerError::OutcomeUnknown(text)) =
                &found;
            assert_eq!((named(&found), text.as_str()), (wanted, said), "{status} {body}");
        }
    }
}
