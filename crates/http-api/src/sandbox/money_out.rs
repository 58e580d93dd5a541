//! `/v1/sandbox/payouts/…` and `/v1/sandbox/refunds/…`: simulated returns and failures.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::api_key::Scope;
use cais_domain::ids::AccountId;
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::refund::{Refund, RefundStatus};
use cais_strict_json::Issues;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::payouts::{PayoutName, fetch};
use cais_use_cases::refunds::RefundName;
use cais_use_cases::refunds::fetch::fetch as fetch_refund;
use cais_use_cases::sync_gate::SyncGate;
use tokio::time::Instant;

use super::{blocking, controls};
use crate::call::{Call, run_detached};
use crate::charges::cancel::no_fields;
use crate::error::{ApiError, ErrorCode};
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;
use crate::state::AppState;
use crate::{named, payouts, refunds};

/// Time limit for the service to process a change at the institution; usually a few milliseconds.
const LEARNED_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two reads.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The route of `reverse`.
pub const REVERSE: Route = Route::write(
    "/v1/sandbox/payouts/{id}/reverse",
    Scope::PayoutsWrite,
    |call, caller| Box::pin(reverse(call, caller)),
    describe_reverse,
)
.with_sandbox();

/// Returns a completed payout in full, as its recipient would, and shows the new state.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`; an error of the store.
async fn reverse(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    no_fields(&call.body, &issues);
    let name = issues.unless_any(name)?;
    caller.account.permit_write()?;
    let (state, account) = (Arc::clone(call.state), caller.account.id);
    let institution = Arc::clone(&controls(call)?.institution);
    let work = async move {
        let before = current(&state, account, &name).await?;
        let status = before.state.status();
        if status != PayoutStatus::Completed {
            let what = format!("The payout is {} and cannot come back.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(what));
        }
        let instruction_id = before.instruction_id();
        blocking(move || institution.return_sent(&instruction_id)).await?;
        // The institution sends a callback, as in production, and the service processes that callback.
        let deadline = Instant::now() + LEARNED_WITHIN;
        loop {
            let payout = current(&state, account, &name).await?;
            if payout.state.status() == PayoutStatus::Reversed || Instant::now() >= deadline {
                return Ok(payout);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let payout: Payout = run_detached(work).await??;
    Ok(Reply::json(call.state.ports.representation.payout(&payout)))
}

fn describe_reverse() -> operation::Description {
    operation::Description {
        errors: &[
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
        ],
        ..operation::plain(
            "sandboxReversePayout",
            "sandbox",
            "Bring a completed payout back",
            "Available only with the built-in sandbox. The recipient gives all of it back.",
            vec![operation::json("200", "The payout after it.", "Payout", examples::reversed())],
        )
    }
}

/// Returns the current payout. A new gate forces a fetch, because an upstream state of a moment ago may be outdated.
async fn current(state: &AppState, account: AccountId, name: &PayoutName) -> Result<Payout, ApiError> {
    fetch::fetch(&state.ports, &SyncGate::new(), account, name).await.map_err(payouts::fetch_error)
}

/// The route of `fail_refund`.
pub const FAIL_REFUND: Route = Route::write(
    "/v1/sandbox/refunds/{id}/fail",
    Scope::ChargesWrite,
    |call, caller| Box::pin(fail_refund(call, caller)),
    describe_fail_refund,
)
.with_sandbox();

/// Makes a refund fail before its completion, and returns the new state.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`; an error of the store.
async fn fail_refund(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = named::alone(call, &issues);
    no_fields(&call.body, &issues);
    let name = issues.unless_any(name)?;
    caller.account.permit_write()?;
    let (state, account) = (Arc::clone(call.state), caller.account.id);
    let institution = Arc::clone(&controls(call)?.institution);
    let work = async move {
        let before = refund(&state, account, &name).await?;
        let status = before.state.status();
        if status != RefundStatus::Processing {
            let what = format!("The refund is {} and cannot fail any more.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(what));
        }
        let (end_to_end_id, id) = (before.end_to_end_id.clone(), before.id);
        blocking(move || institution.fail_refund(&end_to_end_id, id)).await?;
        let deadline = Instant::now() + LEARNED_WITHIN;
        loop {
            let refund = refund(&state, account, &name).await?;
            if refund.state.status() != RefundStatus::Processing || Instant::now() >= deadline {
                return Ok(refund);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let refund: Refund = run_detached(work).await??;
    Ok(Reply::json(call.state.ports.representation.refund(&refund)))
}

fn describe_fail_refund() -> operation::Description {
    operation::Description {
        errors: &[ErrorCode::AccountSuspended, ErrorCode::NotFound, ErrorCode::InvalidState],
        ..operation::plain(
            "sandboxFailRefund",
            "sandbox",
            "Let a refund fail",
            "Available only with the built-in sandbox, and before the refund completes, which takes a second.",
            vec![operation::json("200", "The refund after it.", "Refund", examples::failed_refund())],
        )
    }
}

/// Returns the current refund. A new gate forces a fetch, because an upstream state of a moment ago may be outdated.
async fn refund(state: &AppState, account: AccountId, name: &RefundName) -> Result<Refund, ApiError> {
    fetch_refund(&state.ports, &SyncGate::new(), account, name).await.map_err(refunds::fetch_error)
}
