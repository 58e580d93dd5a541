//! Creates, verifies, reads and finds withdrawals. Each batch has one withdrawal.

use cais_domain::crypto::{CryptoAmount, ProcessorId, rounding};
use cais_domain::ids::CryptoWithdrawalId;
use cais_ports::{AcquirerError, CryptoWithdrawalOrder, ListRequest, UpstreamPage, UpstreamWithdrawal};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Number;

use super::api::{Access, Api};
use super::list::{MARGIN, MAX_PAGES, created_at, day, first_day};
use super::refusal::{self, Refusal, is_ok};
use super::{rows, wire};
use crate::deadline::Deadline;
use crate::http::{Defect, FindError, Reply};

/// The codes of a permanent refusal of a withdrawal. If the answer shows that our balance is too small, the refusal is temporary.
const REFUSALS: [&str; 4] =
    ["BAD_CREATE_WITHDRAWAL_REQUEST", "INVALID_REQUEST_PARAMS", "BAD_REQUEST", "CURRENCY_UNAVAILABLE"];
/// The requested number of rows on a page.
const PER_PAGE: &str = "100";

#[derive(Serialize)]
struct BatchRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    ipn_callback_url: Option<&'a str>,
    withdrawals: [WithdrawalRequest<'a>; 1],
}

#[derive(Serialize)]
struct WithdrawalRequest<'a> {
    address: &'a str,
    currency: &'static str,
    amount: Number,
    unique_external_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipn_callback_url: Option<&'a str>,
}

#[derive(Serialize)]
struct Verification<'a> {
    verification_code: &'a str,
}

/// Sends `POST /v1/payout` once.
///
/// If the answer is unreadable or differs from the order, the outcome is unknown, because the withdrawal may exist.
/// After an answer 400 or 422 the withdrawal is looked up, because the refusal of an identifier that exists already has
/// the same code as other refusals.
pub(super) async fn create(
    api: &Api,
    order: &CryptoWithdrawalOrder,
    callback_url: Option<&str>,
    deadline: Deadline,
) -> Result<UpstreamWithdrawal, AcquirerError> {
    let row = WithdrawalRequest {
        address: order.address.as_str(),
        currency: order.amount.currency().code(),
        amount: wire::number(sendable(order)?)?,
        unique_external_id: order.id.to_string(),
        ipn_callback_url: callback_url,
    };
    let body = BatchRequest { ipn_callback_url: callback_url, withdrawals: [row] };
    let reply = api.post("/v1/payout", &body, Access::Login, deadline).await?;
    let unknown = |defect: Defect| AcquirerError::OutcomeUnknown(defect.reason());
    if reply.status.is_success() {
        let body = reply.success(refusal::of_reply).map_err(FindError::of_a_read)?;
        return rows::only(body, None).and_then(|created| ordered(created, order)).map_err(unknown);
    }
    let error = refused(&reply);
    tracing::info!(
        acquirer = %api.name(), withdrawal = %order.id, status = reply.status.as_u16(), %error,
        "withdrawal not accepted by the processor"
    );
    if reply.status.as_u16() != 400 && reply.status.as_u16() != 422 {
        return Err(error);
    }
    match find(api, order.id, deadline).await {
        Ok(Some(found)) => ordered(found, order).map_err(unknown),
        Ok(None) => Err(error),
        Err(failure) => Err(AcquirerError::OutcomeUnknown(format!("{error}; the look-up failed: {failure}"))),
    }
}

/// Sends `POST /v1/payout/{batch}/verify`. A refusal counts as temporary, because a later code may be accepted.
pub(super) async fn verify(
    api: &Api,
    batch: &ProcessorId,
    code: &str,
    deadline: Deadline,
) -> Result<(), AcquirerError> {
    let body = Verification { verification_code: code };
    let reply = api.post(&format!("/v1/payout/{batch}/verify"), &body, Access::Login, deadline).await?;
    if is_ok(&reply) {
        return Ok(());
    }
    match refusal::of_reply(&reply) {
        AcquirerError::Refused(reason) => Err(AcquirerError::Unavailable(reason)),
        error @ (AcquirerError::Unavailable(_) | AcquirerError::OutcomeUnknown(_)) => Err(error),
    }
}

/// Requests `GET /v1/payout/{batch}`. If the withdrawal in the answer has an identifier of ours, it must be `id`.
pub(super) async fn get(
    api: &Api,
    id: CryptoWithdrawalId,
    batch: &ProcessorId,
    deadline: Deadline,
) -> Result<UpstreamWithdrawal, FindError> {
    let reply = api.get(&format!("/v1/payout/{batch}"), &[], Access::Login, deadline).await?;
    let found = rows::only(reply.success(refusal::of_reply)?, Some(batch))?;
    if found.order.is_some_and(|order| order != id) {
        return Err(Defect::mismatch("unique_external_id", "differs from the request").into());
    }
    Ok(found)
}

/// Searches the list `GET /v1/payout` for the withdrawal with our identifier `id`. The list has no filter for our identifiers.
pub(super) async fn find(
    api: &Api,
    id: CryptoWithdrawalId,
    deadline: Deadline,
) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
    let from = first_day(created_at(id.timestamp_ms()));
    for page in 0..MAX_PAGES {
        let reply = read_list(api, page, (&from, None), deadline).await?;
        let found = reply.success(refusal::of_reply).and_then(|body| Ok(rows::find(body, id)?));
        match found.map_err(FindError::of_a_read)? {
            rows::Found::Withdrawal(found) => return Ok(Some(*found)),
            rows::Found::Others => {}
            // Only an empty page is the last, because the processor may return fewer rows than requested.
            rows::Found::End => return Ok(None),
        }
    }
    Err(AcquirerError::OutcomeUnknown("the list has too many pages".to_owned()))
}

/// Requests a page of `GET /v1/payout`, newest first. Unreadable rows are reported on the page beside the readable
/// ones.
///
/// The answer does not contain the number of pages, so an empty page is the last. A page whose rows are all older than the period is the
/// last too, because a processor that ignores the period would return all withdrawals ever made.
pub(super) async fn page(
    api: &Api,
    request: ListRequest,
    deadline: Deadline,
) -> Result<UpstreamPage<UpstreamWithdrawal>, FindError> {
    let (from, to) = (day(request.from, -MARGIN), day(request.to, MARGIN));
    let reply = read_list(api, request.page, (&from, Some(&to)), deadline).await?;
    let (rows, unreadable) = rows::all(reply.success(refusal::of_reply)?)?;
    let first = request.from.saturating_sub(MARGIN.saturating_mul(2)).unwrap_or(Timestamp::MIN);
    let is_older = |row: &UpstreamWithdrawal| row.created_at.is_some_and(|at| at < first);
    let is_more = !unreadable.is_empty() || !rows.iter().all(is_older);
    let next = is_more.then_some(request.page.saturating_add(1));
    Ok(UpstreamPage { rows, unreadable, next, pages: None })
}

async fn read_list(
    api: &Api,
    page: u32,
    (from, to): (&str, Option<&str>),
    deadline: Deadline,
) -> Result<Reply, AcquirerError> {
    let page = page.to_string();
    let mut query =
        vec![("limit", PER_PAGE), ("page", &page), ("order_by", "dateCreated"), ("order", "desc"), ("date_from", from)];
    query.extend(to.map(|to| ("date_to", to)));
    api.get("/v1/payout", &query, Access::Login, deadline).await
}

/// Returns the amount of the order. Refuses zero, an amount with too many decimals, and an address of another currency.
fn sendable(order: &CryptoWithdrawalOrder) -> Result<CryptoAmount, AcquirerError> {
    let (amount, currency) = (order.amount, order.amount.currency());
    let floor = CryptoAmount::from_decimal(
        currency,
        &amount.to_decimal(),
        currency.withdrawal_decimals(),
        rounding::COINS_PAID_OUT,
    );
    if amount.is_zero() || floor != Ok(amount) || order.address.currency() != currency {
        return Err(AcquirerError::Refused("the amount or the address does not suit the currency".to_owned()));
    }
    Ok(amount)
}

/// Checks that the withdrawal equals the order, and returns the withdrawal with our identifier.
fn ordered(found: UpstreamWithdrawal, order: &CryptoWithdrawalOrder) -> Result<UpstreamWithdrawal, Defect> {
    if found.order.is_some_and(|id| id != order.id) {
        return Err(Defect::mismatch("unique_external_id", "differs from the request"));
    }
    if found.amount != order.amount {
        return Err(Defect::mismatch("amount", "differs from the request"));
    }
    if found.address != order.address {
        return Err(Defect::mismatch("address", "differs from the request"));
    }
    Ok(UpstreamWithdrawal { order: Some(order.id), ..found })
}

/// Classifies an unsuccessful answer to the creation of a withdrawal.
///
/// A 401, 403 or 429 and a refusal because of our balance are temporary. A 400 or 422 with a code of [`REFUSALS`] is permanent. After every
/// other answer the outcome is unknown, because the withdrawal may exist.
fn refused(reply: &Reply) -> AcquirerError {
    let error = refusal::of_reply(reply);
    let AcquirerError::Refused(reason) = error else { return error };
    match Refusal::read(reply) {
        Some(refusal) if refusal.lacks_balance => AcquirerError::Unavailable(reason),
        Some(refusal) if refusal.problem.is_one_of(&REFUSALS) && matches!(reply.status.as_u16(), 400 | 422) => {
            AcquirerError::Refused(refusal.problem.message().to_owned())
        }
        Some(_) | None => AcquirerError::OutcomeUnknown(reason),
    }
}
