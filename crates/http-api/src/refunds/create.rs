//! `POST /v1/charges/{id}/refunds`.

use std::sync::Arc;

use cais_domain::api_key::Scope;
use cais_strict_json::{Issues, read};
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::refunds::create::{self, CreateRefund, RefundRefusal};

use super::terms;
use crate::call::{Call, run_detached};
use crate::error::{ApiError, ErrorCode};
use crate::fingerprint::fingerprint;
use crate::openapi::{examples, operation};
use crate::reply::Reply;
use crate::routes::Route;
use crate::{idempotency, named};

/// The route of `create_refund`.
pub const ROUTE: Route = Route::write(
    "/v1/charges/{id}/refunds",
    Scope::ChargesWrite,
    |call, caller| Box::pin(create_refund(call, caller)),
    description,
);

/// Refunds a charge, or repeats the stored response; a rejection for insufficient balance is stored too.
///
/// # Errors
/// All errors of a creation, in the order of decision 2.
async fn create_refund(call: &Call<'_>, caller: &Caller) -> Result<Reply, ApiError> {
    let key = idempotency::required_key(call.request.headers())?;
    let issues = Issues::default();
    let charge = named::alone(call, &issues);
    // An empty body is rejected: a lost body must not refund the whole charge.
    let body = read(&call.body, &issues);
    let asked = terms::read(&body, &issues);
    let (charge, asked) = issues.unless_any(charge.zip(asked))?;
    let command = CreateRefund {
        account: caller.account.clone(),
        request: call.id,
        key,
        fingerprint: fingerprint("POST", call.request.uri().path(), &body),
        charge,
        end_to_end_id: asked.end_to_end_id,
        amount: asked.amount,
        reason: asked.reason,
        external_id: asked.external_id,
    };
    let state = Arc::clone(call.state);
    let answer = run_detached(async move { create::create(&state.ports, command).await }).await??;
    Reply::answer(answer)
}

fn description() -> operation::Description {
    operation::Description {
        parameters: vec![operation::idempotency_key()],
        request: Some(("NewRefund", examples::literal(r#"{"amount":5.00,"reason":"One coffee was cold"}"#))),
        errors: &[
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::InvalidIdempotencyKey,
            ErrorCode::AccountSuspended,
            ErrorCode::NotFound,
            ErrorCode::ExternalIdConflict,
            ErrorCode::IdempotencyConflict,
            ErrorCode::IdempotencyKeyInProgress,
            ErrorCode::ExternalIdInProgress,
            ErrorCode::InvalidState,
            ErrorCode::InsufficientBalance,
            ErrorCode::RefundExceedsAmount,
            ErrorCode::InfractionOpen,
            ErrorCode::DeadlinePassed,
            ErrorCode::AcquirerUnavailable,
        ],
        ..operation::plain(
            "createRefund",
            "charges",
            "Refund a charge",
            "In full or in part, and again until all of it went back, within 90 days after its payment. `end_to_end_id` refunds any payment that was credited to the charge, such as one that `payment.unexpected` named. The account must cover it; the fee is not returned. A repeated Idempotency-Key gets the first answer, `insufficient_balance` included, with the header `idempotent-replayed: true`.",
            vec![
                operation::json("201", "The refund was created.", "Refund", examples::refund()),
                operation::json(
                    "200",
                    "A refund of this charge with this external_id and amount existed.",
                    "Refund",
                    examples::refund(),
                ),
            ],
        )
    }
}

impl From<RefundRefusal> for ApiError {
    fn from(refusal: RefundRefusal) -> Self {
        match refusal {
            RefundRefusal::NotFound => Self::new(ErrorCode::NotFound).with_message("There is no such charge."),
            RefundRefusal::NoSuchPayment => {
                Self::new(ErrorCode::NotFound).with_message("The charge has no payment with this end_to_end_id.")
            }
            RefundRefusal::ChargeInProgress { retry_after_s } => {
                Self::new(ErrorCode::ExternalIdInProgress).retry_after(retry_after_s)
            }
            RefundRefusal::InvalidState(status) => Self::new(ErrorCode::InvalidState)
                .with_message(format!("The charge is {} and cannot be refunded.", status.as_str())),
            RefundRefusal::InfractionOpen => Self::new(ErrorCode::InfractionOpen),
            RefundRefusal::DeadlinePassed => {
                Self::new(ErrorCode::DeadlinePassed).with_message("A payment can be refunded within 90 days.")
            }
            RefundRefusal::ExceedsAmount { rest } => Self::new(ErrorCode::RefundExceedsAmount)
                .with_message(format!("The refund exceeds the amount that can still be refunded: {rest}.")),
        }
    }
}
