//! `POST /v1/charges/{id}/cancel`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_strict_json::{Fields, Issues, read};
use cais_use_cases::charges::cancel::{self, CancelChargeError};
use cais_use_cases::keys::authenticate::Caller;

use crate::call::{Call, run_detached};
use crate::error::{ApiError, ErrorCode};
use crate::named;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;

/// The route of `cancel_charge`.
pub const ROUTE: Route = Route::write(
    "/v1/charges/{id}/cancel",
    Scope::ChargesWrite,
    |call, caller| Box::pin(cancel_charge(call, caller)),
    description,
);

/// Cancels a charge. A charge that is already cancelled returns the same response.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`, a missing permission to write; an error of the acquirer or the
/// store.
async fn cancel_charge(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    no_fields(&call.body, &issues);
    let name = issues.unless_any(name)?;
    let (state, caller) = (Arc::clone(call.state), Arc::clone(caller));
    let charge = run_detached(async move { cancel::cancel(&state.ports, &caller.account, &name).await }).await??;
    Ok(Reply::json(call.state.ports.representation.charge(&charge)))
}

fn description() -> operation::Description {
    operation::Description {
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
            ErrorCode::AcquirerUnavailable,
        ],
        ..operation::plain(
            "cancelCharge",
            "charges",
            "Cancel a charge",
            "Needs no body and no Idempotency-Key; repeatable.",
            vec![operation::json(
                "200",
                "The cancelled charge.",
                "Charge",
                examples::paid().and_then(|charge| examples::unpaid(charge, "cancelled")),
            )],
        )
    }
}

/// Reads an optional body, which must be an object without fields.
pub(crate) fn no_fields(body: &[u8], issues: &Issues) {
    if body.is_empty() {
        return;
    }
    if let Some(fields) = Fields::of(&read(body, issues), "", issues) {
        fields.finish();
    }
}

impl From<CancelChargeError> for ApiError {
    fn from(error: CancelChargeError) -> Self {
        match error {
            CancelChargeError::NotPermitted(reason) => reason.into(),
            CancelChargeError::NotFound => Self::new(ErrorCode::NotFound).with_message("There is no such charge."),
            CancelChargeError::InProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            CancelChargeError::InvalidState(status) => Self::new(ErrorCode::InvalidState)
                .with_message(format!("The charge is {} and cannot be cancelled.", status.as_str())),
            CancelChargeError::AcquirerUnavailable => Self::new(ErrorCode::AcquirerUnavailable),
            CancelChargeError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            CancelChargeError::Internal(cause) => Self::internal(cause),
        }
    }
}
