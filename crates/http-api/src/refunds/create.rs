//! `POST /v1/charges/{id}/refunds`.

use std::sync::Arc;

use actix_web::{HttpResponse, post};
use cais_domain::ids::kind;
use cais_use_cases::refunds::create::{self, CreateRefund, RefundRefusal, RequestedRefund};

use super::request::NewRefund;
use crate::context::{Authorized, ChargesWrite, run_detached};
use crate::describe::examples;
use crate::describe::failures::{Errors, OfCreation};
use crate::error::{ApiError, ErrorCode, code};
use crate::idempotency::KeyHeader;
use crate::input::{Creation, Json, NoQuery};
use crate::named::Named;
use crate::reply;
use crate::resources::refund::Refund;
use crate::resources::values::AmountFrom;

/// Refunds a charge, or returns the stored response of the same `Idempotency-Key`. A rejection for insufficient balance is stored too.
///
/// # Errors
/// All errors of a creation. `docs/API.md` lists the order of the checks.
#[utoipa::path(
    operation_id = "createRefund",
    tag = "charges",
    summary = "Refund a charge",
    description = "Refunds a charge in full or in part, within 90 days after the payment. Several refunds are possible, up to the amount of the payment. `end_to_end_id` selects any payment that was credited to the charge, such as the payment of an event `payment.unexpected`. The available balance must cover the refund; the fee is not returned. A repeated Idempotency-Key returns the first response, `insufficient_balance` included, with the header `idempotent-replayed: true`. Scope: `charges:write`.",
    params(Named<kind::Charge>, KeyHeader),
    request_body(content = NewRefund,
        example = json!(examples::literal(r#"{"amount":5.00,"reason":"One coffee was cold"}"#))),
    responses(
        (status = 201, description = "The refund was created.", body = Refund, example = json!(examples::refund())),
        (status = 200, description = "A refund of this charge with this external_id and amount existed.", body = Refund,
            example = json!(examples::refund())),
        Errors<(
            OfCreation, code::NotFound, code::InvalidState, code::InsufficientBalance, code::RefundExceedsAmount,
            code::InfractionOpen, code::DeadlinePassed,
        )>,
    ),
)]
#[post("/charges/{id}/refunds")]
pub async fn create_refund(
    call: Authorized<ChargesWrite>,
    new: Creation<(NoQuery, Named<kind::Charge>, Json<NewRefund>)>,
) -> Result<HttpResponse, ApiError> {
    // All fields are optional, yet the body itself is required. Otherwise a request whose body was lost on the way would
    // refund the whole charge.
    let (_, Named(charge), Json(refund)) = new.input;
    let command = CreateRefund {
        account: call.caller.account.clone(),
        request: call.context.id,
        key: new.key,
        fingerprint: new.fingerprint,
        terms: RequestedRefund {
            charge,
            end_to_end_id: refund.end_to_end_id,
            amount: refund.amount.map(|AmountFrom(amount)| amount),
            reason: refund.reason,
            external_id: refund.external_id,
        },
    };
    let state = Arc::clone(&call.state);
    let response = run_detached(async move { create::create(&state.ports, command).await }).await??;
    Ok(reply::stored(response))
}

impl From<RefundRefusal> for ApiError {
    fn from(refusal: RefundRefusal) -> Self {
        match refusal {
            RefundRefusal::NotFound => Self::new(ErrorCode::NotFound).with_message("The charge does not exist."),
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
