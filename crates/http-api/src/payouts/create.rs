//! `POST /v1/payouts`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_strict_json::{Issues, read};
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::payouts::create::{self, CreatePayout, PayoutRefusal};

use super::terms;
use crate::call::{Call, run_detached};
use crate::error::{ApiError, ErrorCode};
use crate::fingerprint::fingerprint;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;
use crate::{idempotency, query};

/// The route of `create_payout`.
pub const ROUTE: Route =
    Route::write("/v1/payouts", Scope::PayoutsWrite, |call, caller| Box::pin(create_payout(call, caller)), description);

/// Creates a payout, or repeats the stored response; a rejection for insufficient balance is stored too.
///
/// # Errors
/// All errors of a creation, in the order of decision 2.
async fn create_payout(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let key = idempotency::required_key(call.request.headers())?;
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let body = read(&call.body, &issues);
    let terms = terms::read(&body, &issues);
    let command = CreatePayout {
        account: caller.account.clone(),
        request: call.id,
        key,
        fingerprint: fingerprint("POST", call.request.uri().path(), &body),
        terms: issues.unless_any(terms)?,
    };
    let state = Arc::clone(call.state);
    let answer = run_detached(async move { create::create(&state.ports, command).await }).await??;
    Reply::answer(answer)
}

fn description() -> operation::Description {
    operation::Description {
        parameters: vec![operation::idempotency_key()],
        request: Some((
            "NewPayout",
            examples::literal(
                r#"{"amount":10.00,"pix_key":"ana@example.com","description":"Invoice 7","external_id":"payout-7"}"#,
            ),
        )),
        errors: &[
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::InvalidIdempotencyKey,
            ErrorCode::AccountSuspended,
            ErrorCode::KycNotApproved,
            ErrorCode::FeatureDisabled,
            ErrorCode::ExternalIdConflict,
            ErrorCode::IdempotencyConflict,
            ErrorCode::IdempotencyKeyInProgress,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::TransactionLimitExceeded,
            ErrorCode::InsufficientBalance,
            ErrorCode::AcquirerUnavailable,
        ],
        ..operation::plain(
            "createPayout",
            "payouts",
            "Create a Pix payout",
            "Amount and fee are held first; a payout that fails gives both back. The answer may say `processing`, `completed` or `failed` already. A repeated Idempotency-Key gets the first answer, `insufficient_balance` included, with the header `idempotent-replayed: true`. An external_id that exists with the same amount and pix_key gets the original payout with 200.",
            vec![
                operation::json("201", "The payout was created.", "Payout", examples::processing()),
                operation::json(
                    "200",
                    "A payout with this external_id, amount and pix_key existed.",
                    "Payout",
                    examples::completed(),
                ),
            ],
        )
    }
}

impl From<PayoutRefusal> for ApiError {
    fn from(refusal: PayoutRefusal) -> Self {
        match refusal {
            PayoutRefusal::TransactionLimit { limit } => Self::new(ErrorCode::TransactionLimitExceeded)
                .with_message(format!("The amount exceeds the account's limit of {limit} per payout.")),
        }
    }
}
