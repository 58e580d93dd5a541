//! `POST /v1/payouts`.

use std::sync::Arc;

use actix_web::{HttpResponse, post};
use cais_use_cases::payouts::create::{self, CreatePayout, PayoutRefusal};

use super::request::NewPayout;
use crate::context::{Authorized, PayoutsWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfCreation};
use crate::error::{ApiError, ErrorCode, code};
use crate::idempotency::KeyHeader;
use crate::input::{Creation, Json, NoQuery};
use crate::reply;
use crate::resources::payout::Payout;

/// Creates a payout, or returns the stored response of the same `Idempotency-Key`. A rejection for insufficient balance is stored too.
///
/// # Errors
/// All errors of a creation, in the order that `docs/API.md` lists.
#[utoipa::path(
    operation_id = "createPayout",
    tag = "payouts",
    summary = "Create a Pix payout",
    description = "Amount and fee are held first; if the payout fails, both are available again. The status may already be `processing`, `completed` or `failed`. A repeated Idempotency-Key returns the first response, `insufficient_balance` included, with the header `idempotent-replayed: true`. An external_id that exists with the same amount and pix_key returns the original payout with 200. Scope: `payouts:write`.",
    params(KeyHeader),
    request_body(content = NewPayout,
        example = json!(examples::literal(r#"{"amount":10.00,"pix_key":"ana@example.com","description":"Invoice 7","external_id":"payout-7"}"#))),
    responses(
        (status = 201, description = "The payout was created.", body = Payout, example = json!(examples::processing())),
        (status = 200, description = "A payout with this external_id, amount and pix_key existed.", body = Payout,
            example = json!(examples::completed())),
        Errors<(
            OfCreation, code::KycNotApproved, code::FeatureDisabled, code::TransactionLimitExceeded,
            code::InsufficientBalance,
        )>,
    ),
)]
#[post("/payouts")]
pub async fn create_payout(
    call: Authorized<PayoutsWrite>,
    new: Creation<(NoQuery, Json<NewPayout>)>,
) -> Result<HttpResponse, ApiError> {
    let (_, Json(payout)) = new.input;
    let command = CreatePayout {
        account: call.caller.account.clone(),
        request: call.context.id,
        key: new.key,
        fingerprint: new.fingerprint,
        terms: payout.into(),
    };
    let state = Arc::clone(&call.state);
    let response = run_detached(async move { create::create(&state.ports, command).await }).await??;
    Ok(reply::stored(response))
}

impl From<PayoutRefusal> for ApiError {
    fn from(refusal: PayoutRefusal) -> Self {
        match refusal {
            PayoutRefusal::TransactionLimit { limit } => Self::new(ErrorCode::TransactionLimitExceeded)
                .with_message(format!("The amount exceeds the account's limit of {limit} per payout.")),
        }
    }
}
