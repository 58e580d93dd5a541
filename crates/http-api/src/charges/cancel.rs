//! `POST /v1/charges/{id}/cancel`.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::kind;
use cais_use_cases::charges::cancel::{self, CancelChargeError};

use super::fetch_error;
use crate::context::{Authorized, ChargesWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, ErrorCode, code};
use crate::input::{Input, NoFields, NoQuery, OptionalJson};
use crate::named::Named;
use crate::reply;
use crate::resources::charge::Charge;

/// Cancels a charge, and returns it. A charge that is already cancelled is returned unchanged.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `external_id_in_progress`, `invalid_state`; an error of the acquirer or the store.
#[utoipa::path(
    operation_id = "cancelCharge",
    tag = "charges",
    summary = "Cancel a charge",
    description = "Needs no body and no Idempotency-Key. A repeat returns the cancelled charge. Scope: `charges:write`.",
    params(Named<kind::Charge>),
    responses(
        (status = 200, description = "The cancelled charge.", body = Charge,
            example = json!(examples::paid().and_then(|charge| examples::unpaid(charge, "cancelled")))),
        Errors<(
            OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState,
            code::AcquirerUnavailable,
        )>,
    ),
)]
#[post("/charges/{id}/cancel")]
pub async fn cancel_charge(
    call: Authorized<ChargesWrite>,
    input: Input<(NoQuery, Named<kind::Charge>, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), _)) = input;
    let (state, caller) = (Arc::clone(&call.state), Arc::clone(&call.caller));
    let charge = run_detached(async move { cancel::cancel(&state.ports, &caller.account, &name).await }).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.charge(&charge)))
}

impl From<CancelChargeError> for ApiError {
    fn from(error: CancelChargeError) -> Self {
        match error {
            CancelChargeError::NotPermitted(reason) => reason.into(),
            CancelChargeError::Fetch(error) => fetch_error(error),
            CancelChargeError::InvalidState(status) => Self::new(ErrorCode::InvalidState)
                .with_message(format!("The charge is {} and cannot be cancelled.", status.as_str())),
            CancelChargeError::AcquirerUnavailable => Self::new(ErrorCode::AcquirerUnavailable),
        }
    }
}
