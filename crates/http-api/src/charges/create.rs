//! `POST /v1/charges`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_strict_json::{Issue, Issues, read};
use cais_use_cases::charges::create::{self, ChargeRefusal, CreateCharge};
use cais_use_cases::keys::authenticate::Caller;

use super::terms;
use crate::call::{Call, run_detached};
use crate::error::{ApiError, ErrorCode};
use crate::fingerprint::fingerprint;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;
use crate::{idempotency, query};

/// The route of `create_charge`.
pub const ROUTE: Route =
    Route::write("/v1/charges", Scope::ChargesWrite, |call, caller| Box::pin(create_charge(call, caller)), description);

/// Creates a charge, or repeats the stored response.
///
/// # Errors
/// All errors of a creation, in the order of decision 2.
async fn create_charge(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let key = idempotency::required_key(call.request.headers())?;
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let body = read(&call.body, &issues);
    let asked = terms::read(&body, &issues);
    let asked = issues.unless_any(asked)?;
    if asked.split_rule {
        return Err(ApiError::new(ErrorCode::SplitNotAvailable));
    }
    let command = CreateCharge {
        account: caller.account.clone(),
        request: call.id,
        key,
        fingerprint: fingerprint("POST", call.request.uri().path(), &body),
        terms: asked.terms,
    };
    let state = Arc::clone(call.state);
    let answer = run_detached(async move { create::create(&state.ports, command).await }).await??;
    Reply::answer(answer)
}

fn description() -> operation::Description {
    operation::Description {
        parameters: vec![operation::idempotency_key()],
        request: Some((
            "NewCharge",
            examples::literal(
                r#"{"amount":10.50,"description":"Order 1042","external_id":"order-1042","expires_in":3600}"#,
            ),
        )),
        errors: &[
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::InvalidIdempotencyKey,
            ErrorCode::PostbackUrlNotRegistered,
            ErrorCode::AccountSuspended,
            ErrorCode::KycNotApproved,
            ErrorCode::FeatureDisabled,
            ErrorCode::SplitDisabled,
            ErrorCode::ExternalIdConflict,
            ErrorCode::IdempotencyConflict,
            ErrorCode::IdempotencyKeyInProgress,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::SplitNotAvailable,
            ErrorCode::TransactionLimitExceeded,
            ErrorCode::SplitRecipientNotEligible,
            ErrorCode::AcquirerUnavailable,
        ],
        ..operation::plain(
            "createCharge",
            "charges",
            "Create a Pix charge",
            "A repeated Idempotency-Key gets the first answer with the header `idempotent-replayed: true`. An external_id that exists with the same amount gets the original charge with 200.",
            vec![
                operation::json("201", "The charge was created.", "Charge", examples::pending()),
                operation::json(
                    "200",
                    "A charge with this external_id and amount existed.",
                    "Charge",
                    examples::pending(),
                ),
            ],
        )
    }
}

/// Names only the recipient's index. The caller must not learn that an account with an e-mail exists.
fn not_eligible(index: usize) -> ApiError {
    let path = format!("split[{index}].recipient_email");
    let error = ApiError::new(ErrorCode::SplitRecipientNotEligible);
    let message = format!("{path} names no other active account with approved KYC.");
    ApiError { issues: vec![Issue::new(&path, "names no other active account with approved KYC")], ..error }
        .with_message(message)
}

impl From<ChargeRefusal> for ApiError {
    fn from(refusal: ChargeRefusal) -> Self {
        match refusal {
            ChargeRefusal::PostbackUrlNotRegistered => Self::new(ErrorCode::PostbackUrlNotRegistered),
            ChargeRefusal::SplitDisabled => Self::new(ErrorCode::SplitDisabled),
            ChargeRefusal::SplitRecipientNotEligible { index } => not_eligible(index),
            ChargeRefusal::TransactionLimit { limit } => Self::new(ErrorCode::TransactionLimitExceeded)
                .with_message(format!("The amount exceeds the account's limit of {limit} per charge.")),
        }
    }
}
