//! `POST /v1/charges`.

use std::sync::Arc;

use actix_web::{HttpResponse, post};
use cais_strict_json::Issue;
use cais_use_cases::charges::create::{self, ChargeRefusal, CreateCharge};

use super::request::NewCharge;
use crate::context::{Authorized, ChargesWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfCreation};
use crate::error::{ApiError, ErrorCode, code};
use crate::idempotency::KeyHeader;
use crate::input::{Creation, Json, NoQuery};
use crate::reply;
use crate::resources::charge::Charge;

/// Creates a charge, or returns the stored response of the same `Idempotency-Key`.
///
/// # Errors
/// All errors of a creation, in the order that `docs/API.md` lists.
#[utoipa::path(
    operation_id = "createCharge",
    tag = "charges",
    summary = "Create a Pix charge",
    description = "A repeated Idempotency-Key returns the first response with the header `idempotent-replayed: true`. An external_id that exists with the same amount returns the original charge with 200. Scope: `charges:write`.",
    params(KeyHeader),
    request_body(content = NewCharge,
        example = json!(examples::literal(r#"{"amount":10.50,"description":"Order 1042","external_id":"order-1042","expires_in":3600}"#))),
    responses(
        (status = 201, description = "The charge was created.", body = Charge, example = json!(examples::pending())),
        (status = 200, description = "A charge with this external_id and amount existed.", body = Charge,
            example = json!(examples::pending())),
        Errors<(
            OfCreation, code::PostbackUrlNotRegistered, code::KycNotApproved, code::FeatureDisabled,
            code::SplitDisabled, code::SplitNotAvailable, code::TransactionLimitExceeded,
            code::SplitRecipientNotEligible,
        )>,
    ),
)]
#[post("/charges")]
pub async fn create_charge(
    call: Authorized<ChargesWrite>,
    new: Creation<(NoQuery, Json<NewCharge>)>,
) -> Result<HttpResponse, ApiError> {
    let (_, Json(charge)) = new.input;
    if charge.split_rule {
        return Err(ApiError::new(ErrorCode::SplitNotAvailable));
    }
    let command = CreateCharge {
        account: call.caller.account.clone(),
        request: call.context.id,
        key: new.key,
        fingerprint: new.fingerprint,
        terms: charge.into(),
    };
    let state = Arc::clone(&call.state);
    let response = run_detached(async move { create::create(&state.ports, command).await }).await??;
    Ok(reply::stored(response))
}

/// Returns an error that names only the recipient's index. The response must not reveal whether an account with that e-mail exists.
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
