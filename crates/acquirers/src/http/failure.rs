//! The classification of failures: certainly not executed, permanently refused, or unknown.

use cais_ports::AcquirerError;

use super::exchange::{Reply, TransportError};
use super::problem::Problem;

/// Classifies an unsuccessful answer.
///
/// 401, 403 and 429 prove that the request was not executed. Any other 4xx, except 408, proves this only if its body
/// names the refusal, because proxies may answer too. After every other answer, including each 5xx, the request may
/// have been executed.
pub(crate) fn of_reply(reply: &Reply) -> AcquirerError {
    of_problem(reply, Problem::read(reply).as_ref())
}

/// Classifies an unsuccessful answer like [`of_reply`]. `problem` is the refusal that the body names.
pub(crate) fn of_problem(reply: &Reply, problem: Option<&Problem>) -> AcquirerError {
    let status = reply.status.as_u16();
    let reason = match problem {
        Some(problem) => format!("{status} {problem}"),
        None => format!("{status} without a readable problem"),
    };
    match status {
        401 | 403 | 429 => AcquirerError::Unavailable(reason),
        // After a 408 the request may have begun.
        408 => AcquirerError::OutcomeUnknown(reason),
        400..=499 if problem.is_some() => AcquirerError::Refused(reason),
        _ => AcquirerError::OutcomeUnknown(reason),
    }
}

/// The problem kind of a temporary refusal: too many look-ups of Pix keys in DICT.
const BUCKET_EMPTY: &str = "balde_fichas_vazio";

/// The problem kind of a 404 with a business reason: the recipient's Pix key has no owner.
const KEY_UNKNOWN: &str = "chave_favorecido_nao_encontrada";

/// Classifies an unsuccessful answer to an order that must be neither lost nor repeated.
///
/// A problem with a kind in `refusals` is a refusal if the status is 400 or 422. With another status, such as 404, only
/// [`KEY_UNKNOWN`] is a refusal, because servers without the path also answer 404, 405, 410 or 415. 401, 403, 429 and
/// [`BUCKET_EMPTY`] are temporary. After any other answer the outcome is unknown, because a refusal would return the
/// money although the order may be in flight. `refusals` must not contain a kind such as `id_envio_duplicado`, which means
/// that the order exists. The text of a refusal is shown to the merchant.
pub(crate) fn of_order(reply: &Reply, refusals: &[&str]) -> AcquirerError {
    let failure = of_reply(reply);
    let AcquirerError::Refused(reason) = failure else { return failure };
    let judges = matches!(reply.status.as_u16(), 400 | 422);
    match Problem::read(reply) {
        Some(problem) if problem.is(BUCKET_EMPTY) => AcquirerError::Unavailable(reason),
        Some(problem) if problem.is_one_of(refusals) && (judges || problem.is(KEY_UNKNOWN)) => {
            AcquirerError::Refused(problem.message().to_owned())
        }
        Some(_) | None => AcquirerError::OutcomeUnknown(reason),
    }
}

/// Classifies a missing answer.
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

    use super::{KEY_UNKNOWN, Reply, of_order, of_reply};

    fn reply(status: u16, is_json: bool, body: &str) -> Reply {
        Reply {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            is_json,
            date: None,
            body: body.as_bytes().to_vec(),
        }
    }

    fn named(error: &AcquirerError) -> &'static str {
        match error {
            AcquirerError::Refused(_) => "refused",
            AcquirerError::Unavailable(_) => "unavailable",
            AcquirerError::OutcomeUnknown(_) => "unknown",
        }
    }

    #[test]
    fn only_named_refusals_and_401_403_429_are_certain() {
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
    fn order_is_refused_only_by_a_listed_kind_and_status() {
        const LISTED: [&str; 3] = ["chave_invalida", "pagamento_negado", KEY_UNKNOWN];
        let problem = |kind: &str| format!(r#"{{"nome":"{kind}","mensagem":"Em português."}}"#);
        let standard = r#"{"type":"https://pix.bcb.gov.br/api/v2/error/chave_invalida","title":"Inválida."}"#;
        let untyped = r#"{"type":"about:blank","title":"Bad Request"}"#;
        for (status, body, wanted) in [
            (400, problem("chave_invalida").as_str(), "refused: Em português."),
            (422, r#"{"nome":"pagamento_negado"}"#, "refused: pagamento_negado"),
            (400, standard, "refused: Inválida."),
            (404, &problem(KEY_UNKNOWN), "refused: Em português."),
            (404, &problem("chave_invalida"), "unknown: 404 chave_invalida: Em português."),
            (405, &problem("chave_invalida"), "unknown: 405 chave_invalida: Em português."),
            (409, &problem("chave_invalida"), "unknown: 409 chave_invalida: Em português."),
            (410, &problem("chave_invalida"), "unknown: 410 chave_invalida: Em português."),
            (415, &problem("chave_invalida"), "unknown: 415 chave_invalida: Em português."),
            (400, &problem("id_envio_duplicado"), "unknown: 400 id_envio_duplicado: Em português."),
            (400, &problem("chave_invalida_2"), "unknown: 400 chave_invalida_2: Em português."),
            (404, &problem("rota_nao_disponivel"), "unknown: 404 rota_nao_disponivel: Em português."),
            (400, untyped, "unknown: 400 Bad Request"),
            (400, &problem(super::BUCKET_EMPTY), "unavailable: 400 balde_fichas_vazio: Em português."),
            (429, &problem(super::BUCKET_EMPTY), "unavailable: 429 balde_fichas_vazio: Em português."),
            (403, &problem("chave_invalida"), "unavailable: 403 chave_invalida: Em português."),
            (500, &problem("chave_invalida"), "unknown: 500 chave_invalida: Em português."),
        ] {
            let found = of_order(&reply(status, true, body), &LISTED);
            let (AcquirerError::Refused(text) | AcquirerError::Unavailable(text) | AcquirerError::OutcomeUnknown(text)) =
                &found;
            assert_eq!(format!("{}: {text}", named(&found)), wanted, "{status} {body}");
        }
    }
}
