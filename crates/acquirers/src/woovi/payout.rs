//! Sends a Pix in two steps: creation and approval. Also reads the outcome of a Pix, and lists sent Pix.
//!
//! A created payment moves no money before its approval. Its `correlationID` is our instruction id, and Woovi creates only one payment per
//! `correlationID`.

use std::time::Duration;

use cais_domain::instruction_id::InstructionId;
use cais_domain::pix_key::PixKeyType;
use cais_ports::{AcquirerError, ListRequest, PayoutOrder, UpstreamPage, UpstreamPayout, alerts};
use serde::Serialize;
use serde_json::value::RawValue;

use super::api::Api;
use super::list::{self, List};
use super::payment;
use super::refusal;
use super::wire::to_cents;
use crate::bacen::wire::line;
use crate::deadline::Deadline;
use crate::http::FindError;
use crate::sent::Expected;

const PAYMENTS: List = List {
    path: "/payment",
    field: "payments",
    per_page: 100,
    names: &["/payment/correlationID", "/transaction/endToEndId"],
};
/// The words for a payment in Woovi's error messages.
const PAYMENT: [&str; 2] = ["payment", "pagamento"];
/// The longest `comment`, in characters.
const MAX_COMMENT_CHARS: usize = 140;
/// The part of the budget reserved for the look-up and the approval after the creation.
const APPROVAL_RESERVE: Duration = Duration::from_millis(2_500);
/// The part of the budget reserved for the look-up after the approval.
const LOOKUP_RESERVE: Duration = Duration::from_secs(1);

#[derive(Serialize)]
struct Creation<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "correlationID")]
    correlation_id: &'a str,
    value: i64,
    #[serde(rename = "destinationAlias")]
    alias: &'a str,
    #[serde(rename = "destinationAliasType")]
    alias_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

#[derive(Serialize)]
struct Approval<'a> {
    #[serde(rename = "correlationID")]
    correlation_id: &'a str,
}

/// The outcome of a creation.
enum Created {
    /// The payment exists as ordered.
    Made(UpstreamPayout),
    /// The payment may exist: the `correlationID` is taken, or the answer was lost.
    Maybe(String),
}

/// Creates the payment and approves it. If the payment exists already and awaits approval, it is only approved.
pub(super) async fn send(api: &Api, order: &PayoutOrder, deadline: Deadline) -> Result<UpstreamPayout, AcquirerError> {
    let body = creation(order)?;
    let payout = match create(api, order, &body, deadline.keeping_back(APPROVAL_RESERVE)).await? {
        Created::Made(payout) => payout,
        Created::Maybe(reason) => {
            tracing::warn!(acquirer = %api.name(), instruction_id = %order.instruction_id, reason, "outcome of the creation of a payment unknown; reading the payment");
            match look_up(api, &Expected::ordered(order), deadline.keeping_back(LOOKUP_RESERVE)).await {
                Ok(Some(payout)) => payout,
                Ok(None) | Err(_) => return Err(AcquirerError::OutcomeUnknown(reason)),
            }
        }
    };
    if payout.awaits_approval { approve(api, order, payout, deadline).await } else { Ok(payout) }
}

fn creation(order: &PayoutOrder) -> Result<Creation<'_>, AcquirerError> {
    if order.recipient_document.is_some() {
        // Woovi does not check the owner of a key. An order that names the owner's document is refused, because a payment to another owner
        // could not be reversed.
        return Err(AcquirerError::Refused("this institution does not check the owner of a key".to_owned()));
    }
    Ok(Creation {
        kind: "PIX_KEY",
        correlation_id: order.instruction_id.as_str(),
        value: to_cents(order.amount)?,
        alias: order.pix_key.as_str(),
        alias_type: match order.pix_key.key_type() {
            PixKeyType::Cpf => "CPF",
            PixKeyType::Cnpj => "CNPJ",
            PixKeyType::Email => "EMAIL",
            PixKeyType::Phone => "PHONE",
            PixKeyType::Evp => "RANDOM",
        },
        comment: order.description.as_deref().and_then(|text| line(text, MAX_COMMENT_CHARS)),
    })
}

/// Sends `POST /payment` once.
async fn create(
    api: &Api,
    order: &PayoutOrder,
    body: &Creation<'_>,
    deadline: Deadline,
) -> Result<Created, AcquirerError> {
    let reply = match api.post(("/payment", &[]), body, deadline).await {
        Ok(reply) => reply,
        Err(AcquirerError::OutcomeUnknown(reason)) => return Ok(Created::Maybe(reason)),
        Err(error @ (AcquirerError::Refused(_) | AcquirerError::Unavailable(_))) => return Err(error),
    };
    if refusal::is_duplicate(&reply) {
        return Ok(Created::Maybe("the correlationID is taken".to_owned()));
    }
    if !reply.status.is_success() {
        let error = refusal::of_order(&reply);
        tracing::info!(
            acquirer = %api.name(), instruction_id = %order.instruction_id, status = reply.status.as_u16(), %error,
            "payout not accepted by the acquirer"
        );
        return match error {
            AcquirerError::OutcomeUnknown(reason) => Ok(Created::Maybe(reason)),
            error @ (AcquirerError::Refused(_) | AcquirerError::Unavailable(_)) => Err(error),
        };
    }
    match payment::read(&reply, &Expected::ordered(order)) {
        Ok(payout) => Ok(Created::Made(payout)),
        Err(error) => Ok(Created::Maybe(error.of_a_read().to_string())),
    }
}

/// Sends `POST /payment/approve`. If the answer does not show the approval, the payment is read.
///
/// Woovi may refuse the approval, for example if the account has too little money. The payment then stays open, and a later [`send`] of the
/// same order approves it.
async fn approve(
    api: &Api,
    order: &PayoutOrder,
    created: UpstreamPayout,
    deadline: Deadline,
) -> Result<UpstreamPayout, AcquirerError> {
    let body = Approval { correlation_id: order.instruction_id.as_str() };
    let expected = Expected::ordered(order);
    let reply = api.post(("/payment/approve", &[]), &body, deadline.keeping_back(LOOKUP_RESERVE)).await;
    let error = match reply {
        Ok(reply) if reply.status.is_success() => match payment::read(&reply, &expected) {
            Ok(payout) if !payout.awaits_approval => return Ok(payout),
            Ok(_) => AcquirerError::OutcomeUnknown("the approval was confirmed, but the payment awaits it".to_owned()),
            Err(error) => error.of_a_read(),
        },
        Ok(reply) => refusal::of_reply(&reply),
        Err(error) => error,
    };
    let after = match look_up(api, &expected, deadline).await {
        Ok(Some(after)) => after,
        // The payment exists, and the approval may still take effect.
        Ok(None) | Err(_) => created,
    };
    if after.awaits_approval {
        tracing::error!(
            alert = alerts::PAYOUT_NOT_APPROVED, acquirer = %api.name(), instruction_id = %order.instruction_id, %error,
            "payment created at the acquirer and not approved; the payout stays processing, and the approval is repeated"
        );
    }
    Ok(after)
}

/// Requests `GET /payment/{correlationID}`; `None` if Woovi answers that the payment does not exist.
pub(super) async fn find(
    api: &Api,
    instruction_id: &InstructionId,
    deadline: Deadline,
) -> Result<Option<UpstreamPayout>, AcquirerError> {
    look_up(api, &Expected::payout(instruction_id), deadline).await.map_err(FindError::of_a_read)
}

async fn look_up(api: &Api, expected: &Expected<'_>, deadline: Deadline) -> Result<Option<UpstreamPayout>, FindError> {
    let reply = api.get(&format!("/payment/{}", expected.instruction_id), deadline).await?;
    if refusal::is_absence(&reply, &PAYMENT) {
        return Ok(None);
    }
    payment::read(&reply, expected).map(Some)
}

/// Requests `GET /payment`, which includes payments of other clients of the account.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
    let row = |place: &str, row: &RawValue| payment::row(place, row);
    list::page(api, PAYMENTS, request, deadline, row).await
}
