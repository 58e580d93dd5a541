//! `/v1/sandbox/payouts/…` and `/v1/sandbox/refunds/…`: what recipients and their institutions do.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::ids::{AccountId, RefundId, kind};
use cais_domain::payout::{Payout, PayoutStatus};
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::{PageRequest, ReservationKey};
use cais_use_cases::charges::ChargeName;
use cais_use_cases::keys::authenticate::Caller;
use cais_use_cases::payouts::{PayoutName, fetch};
use cais_use_cases::refunds::list;
use cais_use_cases::sync_gate::SyncGate;
use tokio::time::Instant;

use super::{blocking, controls};
use crate::http::call::{Call, to_the_end};
use crate::http::charges::cancel::no_fields;
use crate::http::error::{ApiError, ErrorCode};
use crate::http::issue::Issues;
use crate::http::named::{self, Named};
use crate::http::reply::Reply;
use crate::http::state::AppState;
use crate::http::{paging, payouts, query};

/// How long the service may take to learn of what the institution did; it takes a few milliseconds.
const LEARNED_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Lets the recipient of a completed payout give all of it back, and shows the payout as it is afterwards.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`; what the store says.
pub async fn reverse(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    let name = payouts::named(call, &issues);
    no_fields(&call.body, &issues);
    let name = issues.unless_any(name)?;
    caller.account.permit_write()?;
    let (state, account) = (Arc::clone(call.state), caller.account.id);
    let institution = Arc::clone(&controls(call)?.institution);
    let work = async move {
        let before = current(&state, account, &name).await?;
        let status = before.state.status();
        if status != PayoutStatus::Completed {
            let what = format!("The payout is {} and cannot come back.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).saying(what));
        }
        let id_envio = before.id_envio();
        blocking(move || institution.return_sent(&id_envio)).await?;
        // The institution calls back, as it would in production: that is how the service learns of it.
        let deadline = Instant::now() + LEARNED_WITHIN;
        loop {
            let payout = current(&state, account, &name).await?;
            if payout.state.status() == PayoutStatus::Reversed || Instant::now() >= deadline {
                return Ok(payout);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let payout: Payout = to_the_end(work).await??;
    Ok(Reply::json(call.state.ports.representation.payout(&payout)))
}

/// The payout now: with a gate of its own, because whatever was asked upstream a moment ago may be out of date.
async fn current(state: &AppState, account: AccountId, name: &PayoutName) -> Result<Payout, ApiError> {
    Ok(fetch::fetch(&state.ports, &SyncGate::new(), account, name).await?)
}

/// Lets a refund fail before it arrives, and shows it as it is afterwards.
///
/// # Errors
/// `VALIDATION_ERROR`, `not_found`, `invalid_state`; what the store says.
pub async fn fail_refund(call: &Call<'_>, caller: &Arc<Caller>) -> Result<Reply, ApiError> {
    let issues = Issues::default();
    query::none(call.query(), &issues);
    let name = named::read::<kind::Refund>(call.params.first());
    let name = name.map_err(|complaint| issues.add("id", complaint)).ok();
    no_fields(&call.body, &issues);
    let name = issues.unless_any(name)?;
    caller.account.permit_write()?;
    let (state, account) = (Arc::clone(call.state), caller.account.id);
    let institution = Arc::clone(&controls(call)?.institution);
    let work = async move {
        let id = id_of(&state, account, name).await?;
        let before = find(&state, account, id).await?;
        let status = before.state.status();
        if status != RefundStatus::Processing {
            let what = format!("The refund is {} and cannot fail any more.", status.as_str());
            return Err(ApiError::new(ErrorCode::InvalidState).saying(what));
        }
        let end_to_end_id = before.end_to_end_id.clone();
        blocking(move || institution.fail_refund(&end_to_end_id, id)).await?;
        let deadline = Instant::now() + LEARNED_WITHIN;
        loop {
            // Reading the list asks the institution for each that is on its way.
            let page = PageRequest { limit: paging::MAX_LIMIT, starting_after: None };
            let charge = ChargeName::Id(before.charge);
            list::list(&state.ports, &SyncGate::new(), account, &charge, page).await?;
            let refund = find(&state, account, id).await?;
            if refund.state.status() != RefundStatus::Processing || Instant::now() >= deadline {
                return Ok(refund);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let refund: Refund = to_the_end(work).await??;
    Ok(Reply::json(call.state.ports.representation.refund(&refund)))
}

async fn id_of(state: &AppState, account: AccountId, name: Named<kind::Refund>) -> Result<RefundId, ApiError> {
    match name {
        Named::Id(id) => Ok(id),
        Named::External(external_id) => {
            let key = ReservationKey::RefundExternalId(account, external_id);
            let owner = state.ports.queries.find_owner(&key).await?.ok_or_else(nothing)?;
            RefundId::parse(&owner).map_err(|error| ApiError::internal(format!("{owner}: {error}")))
        }
    }
}

async fn find(state: &AppState, account: AccountId, id: RefundId) -> Result<Refund, ApiError> {
    let found = state.ports.queries.find_refund(account, id).await?;
    found.filter(Refund::is_visible).ok_or_else(nothing)
}

fn nothing() -> ApiError {
    ApiError::new(ErrorCode::NotFound).saying("There is no such refund.")
}
