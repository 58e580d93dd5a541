//! Sends the defense of an infraction: one per infraction, text only.

use cais_ports::{AcquirerError, DefenseOrder, DefenseReceipt};
use reqwest::StatusCode;
use serde::Serialize;
use serde::de::IgnoredAny;

use super::infraction::is_id;
use crate::bacen::api::Api;
use crate::deadline::Deadline;
use crate::http::{Problem, Reply, of_order};

/// The problem kind of a refused defense. If the status is 422 and the text mentions a deadline, the defense came too late.
const NOT_POSSIBLE: &str = "InfracaoOperacaoInvalida";
/// The problem kinds after which Efí certainly did not store the defense.
const REFUSALS: [&str; 3] = [NOT_POSSIBLE, "RequisicaoInvalida", "json_invalido"];
/// Parts of words in messages about a passed deadline. Efí documents no fixed text.
const OF_DEADLINES: [&str; 4] = ["prazo", "deadline", "expir", "intempestiv"];

#[derive(Serialize)]
struct Request<'a> {
    analise: &'static str,
    justificativa: &'a str,
}

/// Sends `POST /v2/gn/infracoes/{id}/defesa` once. If the answer does not prove the outcome, the outcome is unknown. A later read of the
/// infraction resolves it.
pub(super) async fn send(api: &Api, order: &DefenseOrder, deadline: Deadline) -> Result<DefenseReceipt, AcquirerError> {
    if !is_id(&order.infraction) {
        return Err(AcquirerError::Refused("the infraction's id is not in Efí's format".to_owned()));
    }
    let body = Request { analise: "rejeitado", justificativa: &order.whole_text() };
    let body = serde_json::to_vec(&body)
        .map_err(|_| AcquirerError::Refused("the defense cannot be written as JSON".to_owned()))?;
    let reply = api.post(&format!("/v2/gn/infracoes/{}/defesa", order.infraction), &body, deadline).await?;
    let receipt = receipt(&reply);
    if !matches!(receipt, Ok(DefenseReceipt::Taken)) {
        let (status, infraction) = (reply.status.as_u16(), &order.infraction);
        tracing::info!(acquirer = %api.name(), infraction, status, ?receipt, "defense not accepted by the acquirer");
    }
    receipt
}

/// Classifies an answer. A lost defense costs the merchant money, so only a refusal with a known kind counts as a refusal.
fn receipt(reply: &Reply) -> Result<DefenseReceipt, AcquirerError> {
    if reply.status.is_success() {
        // Efí's answer has no body or a JSON body. Another body comes from a proxy.
        let is_its_own =
            reply.body.is_empty() || (reply.is_json && serde_json::from_slice::<IgnoredAny>(&reply.body).is_ok());
        let lost = || AcquirerError::OutcomeUnknown("the answer is neither empty nor JSON".to_owned());
        return if is_its_own { Ok(DefenseReceipt::Taken) } else { Err(lost()) };
    }
    let problem = Problem::read(reply);
    let is_problem = |predicate: fn(&Problem) -> bool| problem.as_ref().is_some_and(predicate);
    match reply.status {
        // A conflict means that the infraction may already have a defense, possibly ours. The kind of the problem does not matter.
        StatusCode::CONFLICT if is_problem(Problem::is_typed) => Ok(DefenseReceipt::AlreadyThere),
        StatusCode::UNPROCESSABLE_ENTITY
            if is_problem(|problem| problem.is(NOT_POSSIBLE) && problem.mentions(&OF_DEADLINES)) =>
        {
            Ok(DefenseReceipt::TooLate)
        }
        _ => Err(of_order(reply, &REFUSALS)),
    }
}
