//! Hands over the defence of an infraction: one for each, texts only.

use cais_ports::{AcquirerError, DefenseOrder, DefenseReceipt};
use reqwest::StatusCode;
use serde::Serialize;
use serde::de::IgnoredAny;

use super::infraction::is_id;
use crate::bacen::api::Api;
use crate::deadline::Deadline;
use crate::http::{Problem, Reply, of_order};

/// The kind of a refusal to take a defence; with 422 it may say that the time is over.
const NOT_POSSIBLE: &str = "InfracaoOperacaoInvalida";
/// The kinds that refuse a defence for a business reason.
const REFUSALS: [&str; 3] = [NOT_POSSIBLE, "RequisicaoInvalida", "json_invalido"];
/// Of these words one is in what says that the time is over. Efí documents no fixed text for it.
const OF_DEADLINES: [&str; 4] = ["prazo", "deadline", "expir", "intempestiv"];

#[derive(Serialize)]
struct Request<'a> {
    analise: &'static str,
    justificativa: &'a str,
}

/// `POST /v2/gn/infracoes/{id}/defesa`, once. Whatever does not name itself leaves open whether it was taken: a look tells.
pub(super) async fn send(api: &Api, order: &DefenseOrder, deadline: Deadline) -> Result<DefenseReceipt, AcquirerError> {
    if !is_id(&order.infraction) {
        return Err(AcquirerError::Refused("the infraction's name cannot be one of Efí's".to_owned()));
    }
    let body = Request { analise: "rejeitado", justificativa: &order.whole_text() };
    let body = serde_json::to_vec(&body)
        .map_err(|_| AcquirerError::Refused("the defence cannot be written as JSON".to_owned()))?;
    let reply = api.post(&format!("/v2/gn/infracoes/{}/defesa", order.infraction), &body, deadline).await?;
    let receipt = receipt(&reply);
    if !matches!(receipt, Ok(DefenseReceipt::Taken)) {
        let (status, infraction) = (reply.status.as_u16(), &order.infraction);
        tracing::info!(acquirer = %api.name(), infraction, status, ?receipt, "the acquirer did not take a defence");
    }
    receipt
}

/// What an answer means. Losing a merchant's only defence is like losing money: only a refusal that names itself is one.
fn receipt(reply: &Reply) -> Result<DefenseReceipt, AcquirerError> {
    if reply.status.is_success() {
        // It has no body. What a server on the way would answer in its place has.
        let is_its_own =
            reply.body.is_empty() || (reply.is_json && serde_json::from_slice::<IgnoredAny>(&reply.body).is_ok());
        let lost = || AcquirerError::OutcomeUnknown("the answer is neither empty nor JSON".to_owned());
        return if is_its_own { Ok(DefenseReceipt::Taken) } else { Err(lost()) };
    }
    let problem = Problem::read(reply);
    let says = |what: fn(&Problem) -> bool| problem.as_ref().is_some_and(what);
    match reply.status {
        // Whatever it calls the conflict: there may be a defence, and it may be ours.
        StatusCode::CONFLICT if says(Problem::is_typed) => Ok(DefenseReceipt::AlreadyThere),
        StatusCode::UNPROCESSABLE_ENTITY
            if says(|problem| problem.is(NOT_POSSIBLE) && problem.mentions(&OF_DEADLINES)) =>
        {
            Ok(DefenseReceipt::TooLate)
        }
        _ => Err(of_order(reply, &REFUSALS)),
    }
}
