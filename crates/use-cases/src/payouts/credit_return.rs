//! Lets an operator credit the return of a payout. This is needed if no read of the acquirer shows the return.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::ids::PayoutId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutStatus, PayoutStep};
use cais_domain::text::Text;
use cais_ports::{Actor, CommitError, ReservationKey, ReturnedPart};

use super::changes::Steps;
use crate::audit::{self, AuditedChange, Fields};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};

/// A return that an operator has seen at the acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenReturn {
    /// The payout that was returned.
    pub payout: PayoutId,
    /// The country-wide identifier of the return.
    pub return_id: ReturnId,
    /// The returned amount.
    pub amount: Money,
    /// The operator's reason, for the audit log.
    pub note: Text,
}

/// The reason why a return was not credited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreditReturnError {
    /// No payout has the id.
    #[error("the payout {0} does not exist")]
    NotFound(PayoutId),
    /// The payout was not completed, so it cannot have been returned.
    #[error("the payout is {}, and only a completed payout can be returned", .0.as_str())]
    NotCompleted(PayoutStatus),
    /// The return was credited to another payout, or is a refund.
    #[error("the return belongs to {0}")]
    OfAnother(String),
    /// The amount is zero, or exceeds the part of the payout that was not returned yet.
    #[error(
        "the returned amount {amount} is not between 0.01 and {left}, the part of the payout that was not returned yet"
    )]
    WrongAmount {
        /// The returned amount.
        amount: Money,
        /// The largest possible amount.
        left: Money,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Credits a return to the account of its payout, as if the acquirer had shown the return. The same commit writes a row
/// of the audit log. Returns the payout, and `true` if this call credited the return. If the return was credited
/// before, nothing changes.
///
/// # Errors
/// [`CreditReturnError`].
pub async fn credit_return(
    ports: &Ports,
    operator: &Actor,
    seen: &SeenReturn,
) -> Result<(Payout, bool), CreditReturnError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let payout = ports.queries.find_payout_by_instruction_id(&InstructionId::of_payout(seen.payout)).await;
        let payout = payout.map_err(StoreError::from)?.ok_or(CreditReturnError::NotFound(seen.payout))?;
        let key = ReservationKey::ReturnId(seen.return_id.clone());
        match ports.queries.find_owner(&key).await.map_err(StoreError::from)? {
            Some(owner) if owner == payout.id.to_string() => return Ok((payout, false)),
            Some(owner) => return Err(CreditReturnError::OfAnother(owner)),
            None => {}
        }
        check(&payout, seen.amount)?;
        let now = ports.clock.now();
        let mut steps = Steps::begin(ports, PayoutStep::AlreadyTaken(payout.clone()), now);
        let part = ReturnedPart { return_id: seen.return_id.clone(), amount: seen.amount, at: now };
        steps.credit_returns(ports, &[part]).await?;
        let (mut change, after) = steps.done();
        if change.writes.is_empty() {
            // No commit is needed: another process has credited the return since the look-up above. The payout is read
            // again.
            continue;
        }
        let audited = AuditedChange {
            action: "payout.credit_return",
            subject: payout.id.to_string(),
            account: Some(payout.account),
            before: Some(record(&payout, None)),
            after: Some(record(&after, Some(seen))),
        };
        change.writes.push(audit::record(ports, operator, now, audited));
        match ports.store.commit(change).await {
            Ok(_) => return Ok((after, true)),
            // Another process has credited a return or changed the payout.
            Err(CommitError::Taken { .. } | CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Checks whether the payout can have a return of this amount.
fn check(payout: &Payout, amount: Money) -> Result<(), CreditReturnError> {
    match payout.state.status() {
        PayoutStatus::Completed | PayoutStatus::Reversed => {}
        status
        @ (PayoutStatus::Pending | PayoutStatus::Abandoned | PayoutStatus::Processing | PayoutStatus::Failed) => {
            return Err(CreditReturnError::NotCompleted(status));
        }
    }
    let left = payout.terms.amount.checked_sub(payout.returned);
    let left = left.map_err(|error| StoreError::Internal(error.to_string()))?;
    if amount > left || !amount.is_positive() {
        return Err(CreditReturnError::WrongAmount { amount, left });
    }
    Ok(())
}

/// Returns the payout's fields that the credit changes, and the return `seen` if given, as JSON for the audit log.
fn record(payout: &Payout, seen: Option<&SeenReturn>) -> Vec<u8> {
    let fields = Fields::new().text("status", payout.state.status().as_str()).money("returned", payout.returned);
    let Some(seen) = seen else { return fields.into_json() };
    let fields = fields.text("return_id", &seen.return_id).money("amount", seen.amount);
    fields.text("note", &seen.note).into_json()
}
