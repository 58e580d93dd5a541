//! `POST /v1/infractions/{id}/defense`.

use std::sync::Arc;

use cais_use_cases::infractions::defend::{self, DefendError};
use cais_use_cases::keys::authenticate::Caller;

use super::{no_such_infraction, terms};
use crate::call::{Call, to_the_end};
use crate::error::{ApiError, ErrorCode};
use crate::reply::Reply;
use cais_strict_json::read;
use cais_strict_json::{Issue, Issues};

/// Hands a defence to the acquirer; the same defence again is answered the same way.
///
/// # Errors
/// `VALIDATION_ERROR`, also when the acquirer refuses what was said, `not_found`, `invalid_state`, `deadline_passed`, what forbids the account to write, what upstream and the
/// store say.
pub async fn answer(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let id = super::named(call, &issues);
    let asked = terms::read(&read(&call.body, &issues), &issues);
    let (id, asked) = issues.unless_any(id.zip(asked))?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let work = async move { defend::defend(&state.ports, &caller.account, id, asked.text, asked.evidence_url).await };
    let infraction = to_the_end(work).await??;
    Ok(Reply::json(call.state.ports.representation.infraction(&infraction)))
}

impl From<DefendError> for ApiError {
    fn from(error: DefendError) -> Self {
        match error {
            DefendError::NotPermitted(reason) => reason.into(),
            DefendError::NotFound => no_such_infraction(),
            DefendError::InvalidState(status) => Self::new(ErrorCode::InvalidState)
                .saying(format!("The infraction is {} and cannot be defended.", status.as_str())),
            DefendError::Defended(status) => Self::new(ErrorCode::InvalidState)
                .saying(format!("The infraction is {} and has another defense already.", status.as_str())),
            DefendError::TooLate => {
                Self::new(ErrorCode::DeadlinePassed).saying("The infraction can no longer be defended.")
            }
            // Another defence may be taken: it is this one that is wrong.
            DefendError::Refused(reason) => Self::invalid(vec![Issue::new(
                "defense_text",
                format!("is refused by the institution that received the Pix: {reason}"),
            )]),
            DefendError::AcquirerUnavailable => Self::new(ErrorCode::AcquirerUnavailable),
            DefendError::Unknown { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            DefendError::Store(trouble) => trouble.into(),
        }
    }
}
