//! `POST /v1/charges`.

use std::sync::Arc;

use cais_use_cases::charges::create::{self, CreateCharge, CreateChargeError};
use cais_use_cases::keys::authenticate::Caller;

use super::terms;
use crate::call::{Call, to_the_end};
use crate::error::{ApiError, ErrorCode};
use crate::fingerprint::fingerprint;
use crate::reply::Reply;
use crate::{idempotency, query};
use cais_strict_json::read;
use cais_strict_json::{Issue, Issues};

/// Creates a charge, or repeats what was answered before.
///
/// # Errors
/// Everything that decision 2 orders, in its order.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
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
    let answer = to_the_end(async move { create::create(&state.ports, command).await }).await??;
    Reply::answer(answer)
}

/// Says which recipient, and no more than that: whether an account with an e-mail exists is nobody else's business.
fn not_eligible(index: usize) -> ApiError {
    let path = format!("split[{index}].recipient_email");
    let error = ApiError::new(ErrorCode::SplitRecipientNotEligible);
    let message = format!("{path} names no other active account with approved KYC.");
    ApiError { issues: vec![Issue::new(&path, "names no other active account with approved KYC")], ..error }
        .saying(message)
}

impl From<CreateChargeError> for ApiError {
    fn from(error: CreateChargeError) -> Self {
        match error {
            CreateChargeError::NotPermitted(reason) => reason.into(),
            CreateChargeError::PostbackUrlNotRegistered => Self::new(ErrorCode::PostbackUrlNotRegistered),
            CreateChargeError::SplitDisabled => Self::new(ErrorCode::SplitDisabled),
            CreateChargeError::SplitRecipientNotEligible { index } => not_eligible(index),
            CreateChargeError::KeyConflict => Self::new(ErrorCode::IdempotencyConflict),
            CreateChargeError::KeyInProgress { retry_after_s } => {
                Self::new(ErrorCode::IdempotencyKeyInProgress).retry_after(retry_after_s)
            }
            CreateChargeError::TransactionLimit { limit } => Self::new(ErrorCode::TransactionLimitExceeded)
                .saying(format!("The amount exceeds the account's limit of {limit} per charge.")),
            CreateChargeError::ExternalIdConflict(conflict) => conflict.into(),
            CreateChargeError::ExternalIdInProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            CreateChargeError::AcquirerUnavailable => Self::new(ErrorCode::AcquirerUnavailable),
            CreateChargeError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            CreateChargeError::Internal(cause) => Self::internal(cause),
        }
    }
}
