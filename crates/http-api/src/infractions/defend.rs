//! `POST /v1/infractions/{id}/defense`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::kind;
use cais_strict_json::Issue;
use cais_use_cases::infractions::defend::{self, DefendError};

use super::no_such_infraction;
use super::request::NewDefense;
use crate::context::{Authorized, InfractionsWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, ErrorCode, code};
use crate::input::{Input, Json, NoQuery};
use crate::named::ById;
use crate::reply;
use crate::resources::infraction::InfractionDetail;

/// Submits a defense to the acquirer. A repeat of the same defense has no further effect.
///
/// # Errors
/// `VALIDATION_ERROR` (also if the acquirer rejects the content), `account_suspended`, `not_found`, `invalid_state`, `deadline_passed`; an
/// error of the acquirer or the store.
#[utoipa::path(
    operation_id = "defendInfraction",
    tag = "infractions",
    summary = "Defend the account",
    description = "An infraction has one defense, until `deadline_at`. Needs no Idempotency-Key: a repeat of the same defense has no further effect. If the acquirer refuses a defense, the answer is `VALIDATION_ERROR` with the acquirer's reason, and another defense may be sent. After 503 the outcome is unknown: the service looks up the outcome, and the same defense may be sent again. Scope: `infractions:write`.",
    params(ById<kind::Infraction>),
    request_body(content = NewDefense,
        example = json!(examples::literal(r#"{"defense_text":"Two coffees, handed over on 2 January.","defense_evidence_url":"https://shop.example/receipts/1042"}"#))),
    responses(
        (status = 200, description = "The acquirer has the defense.", body = InfractionDetail,
            example = json!(examples::defended_infraction())),
        Errors<(
            OfBody, code::AccountSuspended, code::NotFound, code::InvalidState, code::DeadlinePassed,
            code::AcquirerUnavailable,
        )>,
    ),
)]
#[post("/infractions/{id}/defense")]
pub async fn defend_infraction(
    call: Authorized<InfractionsWrite>,
    input: Input<(NoQuery, ById<kind::Infraction>, Json<NewDefense>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, ById(id), Json(defense))) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let work = async move {
        defend::defend(&state.ports, &caller.account, id, defense.defense_text, defense.defense_evidence_url).await
    };
    let infraction = run_detached(work).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.infraction(&infraction)))
}

impl From<DefendError> for ApiError {
    fn from(error: DefendError) -> Self {
        match error {
            DefendError::NotPermitted(reason) => reason.into(),
            DefendError::NotFound => no_such_infraction(),
            DefendError::InvalidState(status) => Self::new(ErrorCode::InvalidState)
                .with_message(format!("The infraction is {} and cannot be defended.", status.as_str())),
            DefendError::Defended(status) => Self::new(ErrorCode::InvalidState)
                .with_message(format!("The infraction is {} and has another defense already.", status.as_str())),
            DefendError::TooLate => {
                Self::new(ErrorCode::DeadlinePassed).with_message("The infraction can no longer be defended.")
            }
            // The acquirer rejected only this content; another defense may be accepted.
            DefendError::Refused(reason) => Self::invalid(vec![Issue::new(
                "defense_text",
                format!("is refused by the institution that received the Pix: {reason}"),
            )]),
            DefendError::AcquirerUnavailable => Self::new(ErrorCode::AcquirerUnavailable),
            DefendError::Unknown { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            DefendError::Store(error) => error.into(),
        }
    }
}
