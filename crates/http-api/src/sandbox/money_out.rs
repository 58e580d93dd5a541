//! `/v1/sandbox/payouts/…` and `/v1/sandbox/refunds/…`: simulated returns and failures.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::ids::{AccountId, kind};
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::refund::{Refund, RefundStatus};
use cais_use_cases::payouts::{PayoutName, fetch};
use cais_use_cases::refunds::RefundName;
use cais_use_cases::refunds::fetch::fetch as fetch_refund;
use cais_use_cases::sync_gate::SyncGate;

use super::recorded::recorded;
use super::{blocking, controls};
use crate::context::{Authorized, ChargesWrite, PayoutsWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, ErrorCode, code};
use crate::input::{Input, NoFields, NoQuery, OptionalJson};
use crate::named::Named;
use crate::resources::{payout, refund};
use crate::state::AppState;
use crate::{payouts, refunds, reply};

/// Sends the whole amount of a completed payout back, as its recipient would. Returns the payout in its new state.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `external_id_in_progress`, `invalid_state`, `service_unavailable`; an error of the
/// sandbox or the store.
#[utoipa::path(
    operation_id = "sandboxReversePayout",
    tag = "sandbox",
    summary = "Return a completed payout",
    description = "Available only with the built-in sandbox. The recipient returns the whole amount. Scope: `payouts:write`.",
    params(Named<kind::Payout>),
    responses(
        (status = 200, description = "The returned payout.", body = payout::Payout,
            example = json!(examples::reversed())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[post("/sandbox/payouts/{id}/reverse")]
pub async fn reverse_payout(
    call: Authorized<PayoutsWrite>,
    input: Input<(NoQuery, Named<kind::Payout>, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), _)) = input;
    call.caller.account.permit_write()?;
    let (state, account) = (Arc::clone(&call.state), call.caller.account.id);
    let institution = Arc::clone(&controls(&call.state)?.institution);
    let work = async move {
        let before = current(&state, account, &name).await?;
        let status = before.state.status();
        if status != PayoutStatus::Completed {
            let message = format!("The payout is {} and cannot be returned.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(message));
        }
        let instruction_id = before.instruction_id();
        blocking(move || institution.return_sent(&instruction_id)).await?;
        let read = async || current(&state, account, &name).await;
        recorded(read, |payout| payout.state.status() == PayoutStatus::Reversed).await
    };
    let payout: Payout = run_detached(work).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.payout(&payout)))
}

/// Returns the payout with its current state at the acquirer. [`AppState::syncs`] permits only one read of a payout per second, so each
/// call uses a new gate.
async fn current(state: &AppState, account: AccountId, name: &PayoutName) -> Result<Payout, ApiError> {
    fetch::fetch(&state.ports, &SyncGate::new(), account, name).await.map_err(payouts::fetch_error)
}

/// Makes an open refund fail. Returns the refund in its new state.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `external_id_in_progress`, `invalid_state`, `service_unavailable`; an error of the
/// sandbox or the store.
#[utoipa::path(
    operation_id = "sandboxFailRefund",
    tag = "sandbox",
    summary = "Make a refund fail",
    description = "Available only with the built-in sandbox, and only before the refund completes: one second after it was requested. Scope: `charges:write`.",
    params(Named<kind::Refund>),
    responses(
        (status = 200, description = "The failed refund.", body = refund::Refund,
            example = json!(examples::failed_refund())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[post("/sandbox/refunds/{id}/fail")]
pub async fn fail_refund(
    call: Authorized<ChargesWrite>,
    input: Input<(NoQuery, Named<kind::Refund>, OptionalJson<NoFields>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), _)) = input;
    call.caller.account.permit_write()?;
    let (state, account) = (Arc::clone(&call.state), call.caller.account.id);
    let institution = Arc::clone(&controls(&call.state)?.institution);
    let work = async move {
        let before = refund(&state, account, &name).await?;
        let status = before.state.status();
        if status != RefundStatus::Processing {
            let message = format!("The refund is {} and can no longer fail.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(message));
        }
        let (end_to_end_id, id) = (before.end_to_end_id.clone(), before.id);
        blocking(move || institution.fail_refund(&end_to_end_id, id)).await?;
        let read = async || refund(&state, account, &name).await;
        recorded(read, |refund| refund.state.status() != RefundStatus::Processing).await
    };
    let refund: Refund = run_detached(work).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.refund(&refund)))
}

/// Returns the refund with its current state at the acquirer. [`AppState::syncs`] permits only one read of a refund per second, so each
/// call uses a new gate.
async fn refund(state: &AppState, account: AccountId, name: &RefundName) -> Result<Refund, ApiError> {
    fetch_refund(&state.ports, &SyncGate::new(), account, name).await.map_err(refunds::fetch_error)
}
