//! `/v1/sandbox/crypto/withdrawals/{id}/fail`: a withdrawal that the processor does not send.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, post};
use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalState, WithdrawalStatus};
use cais_domain::ids::{AccountId, kind};
use cais_strict_json::{Fields, Issues, Node, Problem};
use cais_use_cases::crypto::withdrawals::WithdrawalName;
use cais_use_cases::crypto::withdrawals::fetch::fetch;
use cais_use_cases::sync_gate::SyncGate;
use tokio::time::Instant;
use utoipa::ToSchema;

use super::{APPLIED_WITHIN, READ_EVERY, WithdrawalFailure, processor, simulate};
use crate::context::{Authorized, CryptoWrite, run_detached};
use crate::crypto::withdrawals::fetch_error;
use crate::describe::examples;
use crate::describe::failures::{Errors, OfBody};
use crate::error::{ApiError, ErrorCode, code};
use crate::input::{Input, Json, JsonBody, NoQuery};
use crate::named::Named;
use crate::resources::crypto::CryptoWithdrawal;
use crate::resources::values::closed_list;
use crate::state::AppState;
use crate::{reply, rules};

closed_list! {
    /// The way in which a withdrawal fails.
    WithdrawalFailureName as WithdrawalFailure WithdrawalFailure::ALL.map(WithdrawalFailure::as_str)
}

/// The failure of a withdrawal in the sandbox.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SandboxWithdrawalFailure {
    /// `rejected`: the coins are never sent. `failed`: the processor may still send them, so an operator decides.
    #[schema(value_type = WithdrawalFailureName)]
    mode: WithdrawalFailure,
}

impl JsonBody for SandboxWithdrawalFailure {
    fn read(body: &Node<'_>, issues: &Issues) -> Option<Self> {
        let mut fields = Fields::of(body, "", issues)?;
        let mode = fields.required("mode", mode);
        fields.finish();
        Some(Self { mode: mode? })
    }
}

fn mode(node: &Node<'_>) -> Result<WithdrawalFailure, Problem> {
    let name = rules::string(node)?;
    let known = WithdrawalFailure::ALL.into_iter().find(|mode| mode.as_str() == name);
    known.ok_or_else(|| {
        format!("must be one of {}", WithdrawalFailure::ALL.map(WithdrawalFailure::as_str).join(", ")).into()
    })
}

/// Makes a withdrawal fail before its completion, and returns the withdrawal in its new state.
///
/// # Errors
/// `VALIDATION_ERROR`, `account_suspended`, `not_found`, `external_id_in_progress`, `invalid_state`;
/// `internal_error` if the sandbox fails; an error of the store.
#[utoipa::path(
    operation_id = "sandboxFailCryptoWithdrawal",
    tag = "sandbox",
    summary = "Let a crypto withdrawal fail",
    description = "Available only with the built-in sandbox. The withdrawal must still be `processing`; the sandbox completes a withdrawal after two seconds. Scope: `crypto:write`.",
    params(Named<kind::CryptoWithdrawal>),
    request_body(content = SandboxWithdrawalFailure, example = json!(examples::literal(r#"{"mode":"rejected"}"#))),
    responses(
        (status = 200, description = "The withdrawal after the failure.", body = CryptoWithdrawal,
            example = json!(examples::failed_crypto_withdrawal())),
        Errors<(OfBody, code::AccountSuspended, code::NotFound, code::ExternalIdInProgress, code::InvalidState)>,
    ),
)]
#[post("/sandbox/crypto/withdrawals/{id}/fail")]
pub async fn fail_withdrawal(
    call: Authorized<CryptoWrite>,
    input: Input<(NoQuery, Named<kind::CryptoWithdrawal>, Json<SandboxWithdrawalFailure>)>,
) -> Result<HttpResponse, ApiError> {
    let Input((_, Named(name), Json(SandboxWithdrawalFailure { mode }))) = input;
    call.caller.account.permit_write()?;
    let (state, account) = (Arc::clone(&call.state), call.caller.account.id);
    let processor = Arc::clone(processor(&call.state)?);
    let work = async move {
        let before = current(&state, account, &name).await?;
        let sent = before.state.sent().filter(|_| before.state.status() == WithdrawalStatus::Processing);
        let Some(batch) = sent.and_then(|sent| sent.batch.clone()) else {
            let message = format!("The withdrawal is {} and cannot fail.", before.state.status().as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).with_message(message));
        };
        simulate(move || processor.fail_withdrawal(&batch, mode)).await?;
        let deadline = Instant::now() + APPLIED_WITHIN;
        loop {
            let withdrawal = current(&state, account, &name).await?;
            if is_failure_applied(&withdrawal) || Instant::now() >= deadline {
                return Ok(withdrawal);
            }
            tokio::time::sleep(READ_EVERY).await;
        }
    };
    let withdrawal: Withdrawal = run_detached(work).await??;
    Ok(reply::rendered(StatusCode::OK, call.state.ports.representation.crypto_withdrawal(&withdrawal)))
}

/// Returns whether the service has applied the failure. Returns `false` only while the withdrawal is processing and needs no operator.
const fn is_failure_applied(withdrawal: &Withdrawal) -> bool {
    match &withdrawal.state {
        WithdrawalState::Processing { review_since, .. } => review_since.is_some(),
        WithdrawalState::Pending
        | WithdrawalState::Abandoned { .. }
        | WithdrawalState::Completed { .. }
        | WithdrawalState::Failed { .. } => true,
    }
}

/// Returns the withdrawal after a read of the processor. The gate is new at every call, because the shared gate permits only one read per
/// second.
async fn current(state: &AppState, account: AccountId, name: &WithdrawalName) -> Result<Withdrawal, ApiError> {
    fetch(&state.ports, &SyncGate::new(), account, name).await.map_err(fetch_error)
}
