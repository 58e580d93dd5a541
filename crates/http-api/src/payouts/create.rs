//! `POST /v1/payouts`.

use std::sync::Arc;

use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::payouts::create::{self, CreatePayout, PayoutRefusal};

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

impl From<PayoutRefusal> for ApiError {
    fn from(refusal: PayoutRefusal) -> Self {
        match refusal {
            PayoutRefusal::TransactionLimit { limit } => Self::new(ErrorCode::TransactionLimitExceeded)
                .saying(format!("The amount exceeds the account's limit of {limit} per payout.")),
        }
    }
}
