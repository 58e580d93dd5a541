//! `POST /v1/payouts`.

use std::sync::Arc;

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::payouts::create::{self, CreatePayout, CreatePayoutError};

use super::terms;
use crate::call::{Call, to_the_end};
use crate::error::{ApiError, ErrorCode};
use crate::fingerprint::fingerprint;
use crate::reply::Reply;
use crate::{idempotency, query};
use cais_strict_json::Issues;
use cais_strict_json::read;

/// Creates a payout, or repeats what was answered before; a balance that does not cover it is answered the same way.
///
/// # Errors
/// Everything that decision 2 orders, in its order.
pub async fn answer(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
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
    let answer = to_the_end(async move { create::create(&state.ports, command).await }).await??;
    Reply::answer(answer)
}

impl From<CreatePayoutError> for ApiError {
    fn from(error: CreatePayoutError) -> Self {
        match error {
            CreatePayoutError::NotPermitted(reason) => reason.into(),
            CreatePayoutError::KeyConflict => Self::new(ErrorCode::IdempotencyConflict),
            CreatePayoutError::KeyInProgress { retry_after_s } => {
                Self::new(ErrorCode::IdempotencyKeyInProgress).retry_after(retry_after_s)
            }
            CreatePayoutError::TransactionLimit { limit } => Self::new(ErrorCode::TransactionLimitExceeded)
                .saying(format!("The amount exceeds the account's limit of {limit} per payout.")),
            CreatePayoutError::ExternalIdConflict(conflict) => conflict.into(),
            CreatePayoutError::ExternalIdInProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            CreatePayoutError::AcquirerUnavailable => Self::new(ErrorCode::AcquirerUnavailable),
            CreatePayoutError::Unavailable { retry_after_s } => {
                Self::new(ErrorCode::ServiceUnavailable).retry_after(retry_after_s)
            }
            CreatePayoutError::Internal(cause) => Self::internal(cause),
        }
    }
}
