//! The decision of an operator on a withdrawal whose outcome the processor's records do not prove.

use std::time::Duration;

use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalStatus};
use cais_domain::ids::CryptoWithdrawalId;
use cais_domain::text::Text;
use cais_ports::{AcquirerError, CommitError, Operator, QueryError, UpstreamWithdrawal, UpstreamWithdrawalStatus};
use jiff::Timestamp;

use super::steps::Steps;
use super::sync::{search, why};
use crate::audit::{self, AuditedChange, escaped};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
use crate::upstream_order::UpstreamOrder as _;

/// The largest number of listed withdrawals. An operator decides the oldest first.
const LIST_LIMIT: u32 = 200;
/// The time for one read of the processor.
const READ_BUDGET: Duration = Duration::from_secs(10);

/// The decision of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The coins were sent in this transaction of the chain.
    Sent {
        /// The transaction.
        tx_hash: Text,
    },
    /// The coins are never sent. Amount and fee are given back.
    Failed,
}

/// The rule for a processor whose record cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingRecord {
    /// The decision is refused.
    Refused,
    /// The decision is made without a record: the processor is gone for good. The withdrawal need not be marked, because
    /// a processor that cannot be read marks none.
    Accepted,
}

/// The reason for which a withdrawal was not resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No withdrawal has the id.
    #[error("the withdrawal {0} does not exist")]
    NotFound(CryptoWithdrawalId),
    /// The withdrawal is not marked; its outcome follows from the processor's record.
    #[error("the withdrawal is {} and not marked for review", .0.as_str())]
    NotMarked(WithdrawalStatus),
    /// The processor's record excludes the decision.
    #[error("the processor shows the withdrawal as {0:?}, which excludes the decision")]
    Shown(UpstreamWithdrawalStatus),
    /// The processor had the withdrawal, and does not show it now.
    #[error("the processor had the withdrawal in batch {0} and does not show it now: ask the processor")]
    NotShown(ProcessorId),
    /// The processor could not be read. Without its record a decision could pay twice.
    #[error("the processor could not be read: {0}")]
    Upstream(#[from] AcquirerError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Lists the withdrawals of all accounts that wait for a decision, the longest waiting first.
///
/// # Errors
/// [`QueryError`].
pub async fn list(ports: &Ports) -> Result<Vec<Withdrawal>, QueryError> {
    ports.queries.list_withdrawals_for_review(LIST_LIMIT).await
}

/// Ends the withdrawal as the operator decides, with a row of the audit log in the same commit. Returns the stored
/// withdrawal.
///
/// # Errors
/// [`ResolveError`]. A record of the processor that excludes the decision outweighs the operator.
pub async fn resolve(
    ports: &Ports,
    operator: &Operator,
    id: CryptoWithdrawalId,
    (decision, note): (&Decision, &Text),
    missing: MissingRecord,
) -> Result<Withdrawal, ResolveError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let found = ports.queries.find_crypto_withdrawal_of_any(id).await.map_err(StoreError::from)?;
        let before = found.ok_or(ResolveError::NotFound(id))?;
        let (is_marked, now) = (before.state.review_since().is_some(), ports.clock.now());
        let may_decide = match missing {
            MissingRecord::Refused => is_marked,
            MissingRecord::Accepted => is_marked || is_open_for_long(&before, now),
        };
        if !may_decide {
            return Err(ResolveError::NotMarked(before.state.status()));
        }
        let without_record = match (unread(ports, &before, decision).await?, missing) {
            (None, _) if !is_marked => return Err(ResolveError::NotMarked(before.state.status())),
            (None, _) => false,
            (Some(reason), MissingRecord::Refused) => return Err(reason),
            (Some(_), MissingRecord::Accepted) => true,
        };
        let steps = Steps::none(before.clone()).then(|marked| match decision {
            Decision::Sent { tx_hash } => marked.complete(Some(tx_hash.as_str().to_owned()), None, now),
            Decision::Failed => marked.fail(why(None), now),
        });
        let (mut change, after) = steps.map_err(StoreError::from)?.done(ports, now);
        let audited = AuditedChange {
            action: "crypto_withdrawal.resolve",
            subject: id.to_string(),
            account: Some(before.account),
            before: Some(record(&before, None, false)),
            after: Some(record(&after, Some(note), without_record)),
        };
        change.writes.push(audit::record(ports, operator, now, audited));
        match ports.store.commit(change).await {
            Ok(_) => return Ok(after),
            // A poll has changed the withdrawal since.
            Err(CommitError::Stale) => {}
            Err(error) => return Err(StoreError::from(error).into()),
        }
    }
    Err(StoreError::contended().into())
}

/// Reads the processor's record for the decision. Returns the reason for which none could be read; `None` if the record
/// allows the decision.
///
/// # Errors
/// [`ResolveError::Shown`] if the record excludes the decision.
async fn unread(
    ports: &Ports,
    withdrawal: &Withdrawal,
    decision: &Decision,
) -> Result<Option<ResolveError>, ResolveError> {
    let batch = withdrawal.state.sent().and_then(|sent| sent.batch.clone());
    match (search(ports, withdrawal, READ_BUDGET).await, batch, decision) {
        (Ok(Some(UpstreamWithdrawal { status, .. })), _, _) if excludes(status, decision) => {
            Err(ResolveError::Shown(status))
        }
        // The batch may be verified, so the processor may still send the coins.
        (Ok(None), Some(batch), Decision::Failed) => Ok(Some(ResolveError::NotShown(batch))),
        (Ok(Some(_)), _, _) | (Ok(None), Some(_), Decision::Sent { .. }) | (Ok(None), None, _) => Ok(None),
        (Err(error), _, _) => Ok(Some(error.into())),
    }
}

/// Returns whether the withdrawal has had no outcome for so long that no request of ours is in flight.
fn is_open_for_long(withdrawal: &Withdrawal, now: Timestamp) -> bool {
    withdrawal.state.status() == WithdrawalStatus::Processing && withdrawal.is_overdue(now)
}

/// Returns whether the processor's status excludes the decision.
///
/// `Sent` is excluded if the batch is unverified or rejected: the processor has sent nothing. `Failed` gives the money
/// back, so `Failed` is excluded if the processor has sent the batch or may still send it. An unverified batch may still
/// be verified, and is then sent.
const fn excludes(status: UpstreamWithdrawalStatus, decision: &Decision) -> bool {
    match (decision, status) {
        (Decision::Sent { .. }, UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Rejected)
        | (
            Decision::Failed,
            UpstreamWithdrawalStatus::Unverified
            | UpstreamWithdrawalStatus::Processing
            | UpstreamWithdrawalStatus::Finished,
        ) => true,
        (
            Decision::Sent { .. },
            UpstreamWithdrawalStatus::Processing
            | UpstreamWithdrawalStatus::Finished
            | UpstreamWithdrawalStatus::Failed,
        )
        | (Decision::Failed, UpstreamWithdrawalStatus::Rejected | UpstreamWithdrawalStatus::Failed) => false,
    }
}

/// Returns the fields of a withdrawal that a decision changes, as JSON.
fn record(withdrawal: &Withdrawal, note: Option<&Text>, without_record: bool) -> Vec<u8> {
    let text = |name: &str, value: &str| format!(r#","{name}":"{}""#, escaped(value));
    let tx_hash = withdrawal.tx_hash.as_deref().map(|hash| text("tx_hash", hash)).unwrap_or_default();
    let note = note.map(|note| text("note", note.as_str())).unwrap_or_default();
    let (status, review) = (withdrawal.state.status().as_str(), withdrawal.state.review_since().is_some());
    let without_record = if without_record { r#","without_processor":true"# } else { "" };
    format!(r#"{{"status":"{status}","review":{review}{tx_hash}{note}{without_record}}}"#).into_bytes()
}
