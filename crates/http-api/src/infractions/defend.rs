//! `POST /v1/infractions/{id}/defense`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_strict_json::{Issue, Issues, read};
use cais_use_cases::infractions::defend::{self, DefendError};
use cais_use_cases::keys::authenticate::Caller;

use super::{no_such_infraction, terms};
use crate::call::{Call, run_detached};
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;

/// The route of `defend_infraction`.
pub const ROUTE: Route = Route::write(
    "/v1/infractions/{id}/defense",
    Scope::InfractionsWrite,
    |call, caller| Box::pin(defend_infraction(call, caller)),
    description,
);

/// Submits a defense to the acquirer. The same defense again returns the same response.
///
/// # Errors
/// `VALIDATION_ERROR` (also if the acquirer rejects the content), `not_found`, `invalid_state`, `deadline_passed`, a
/// missing permission to write; an error of the acquirer or the store.
async fn defend_infraction(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let asked = terms::read(&read(&call.body, &issues), &issues);
    let (id, asked) = issues.unless_any(id.zip(asked))?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let work = async move { defend::defend(&state.ports, &caller.account, id, asked.text, asked.evidence_url).await };
    let infraction = run_detached(work).await??;
    Ok(Reply::json(call.state.ports.representation.infraction(&infraction)))
}

fn description() -> operation::Description {
    operation::Description {
        request: Some((
            "NewDefense",
            examples::literal(
                r#"{"defense_text":"Two coffees, handed over on 2 January.","defense_evidence_url":"https://shop.example/receipts/1042"}"#,
            ),
        )),
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::InvalidState,
            ErrorCode::DeadlinePassed,
            ErrorCode::AcquirerUnavailable,
        ],
        ..operation::plain(
            "defendInfraction",
            "infractions",
            "Defend the account",
            "Once, until `deadline_at`; needs no Idempotency-Key: the same defence again is no second one. A defence that the institution refuses is a `VALIDATION_ERROR` with its reason, and another one may be sent. After 503 it may have arrived: the same defence may be sent again, and the service finds out by itself.",
            vec![operation::json(
                "200",
                "The acquirer has the defence.",
                "InfractionDetail",
                examples::defended_infraction(),
            )],
        )
    }
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
            // Only this content was rejected; another defense may be accepted.
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
