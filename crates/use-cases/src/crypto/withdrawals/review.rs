//! An operator's decision on a withdrawal whose outcome the processor's records do not prove.

use std::time::Duration;

use cais_domain::crypto::ProcessorId;
use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalStatus};
use cais_domain::ids::CryptoWithdrawalId;
pub use cais_domain::review_decision::WithdrawalDecision as Decision;
use cais_domain::text::Text;
use cais_ports::{AcquirerError, Actor, ChangeSet, QueryError, UpstreamWithdrawal, UpstreamWithdrawalStatus};
use jiff::Timestamp;

use super::changes::Steps;
use super::decide::why;
use super::sync::search;
use crate::audit::{self, AuditedChange, Fields};
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError, commit_unless_stale};
use crate::upstream_order::UpstreamOrder as _;

/// The largest number of listed withdrawals.
const LIST_LIMIT: u32 = 200;
/// The time for one read of the processor.
const READ_BUDGET: Duration = Duration::from_secs(10);

/// The rule for a decision if the processor's record cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingRecord {
    /// The decision is refused.
    Refused,
    /// The decision is made without a record, for a processor that will never answer again. Only a read of the
    /// processor marks a withdrawal for review. So an open withdrawal without the mark is accepted too, if it is at
    /// least ten minutes old.
    Accepted,
}

/// The reason why a withdrawal was not resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No withdrawal has the id.
    #[error("the withdrawal {0} does not exist")]
    NotFound(CryptoWithdrawalId),
    /// The withdrawal is not marked for review: the processor decides it, or it has ended.
    #[error("the withdrawal is {} and not marked for review", .0.as_str())]
    NotMarked(WithdrawalStatus),
    /// The processor's record contradicts the decision.
    #[error("the processor shows the withdrawal as {0:?}, which excludes the decision")]
    Shown(UpstreamWithdrawalStatus),
    /// The processor has shown the withdrawal before, but does not show it now.
    #[error("the processor had the withdrawal in batch {0} and does not show it now: ask the processor")]
    NotShown(ProcessorId),
    /// The processor could not be read. Without its record, a decision could pay twice.
    #[error("the processor could not be read: {0}")]
    Upstream(#[from] AcquirerError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Lists the withdrawals that wait for a decision, in all accounts. The longest waiting come first.
///
/// # Errors
/// [`QueryError`].
pub async fn list(ports: &Ports) -> Result<Vec<Withdrawal>, QueryError> {
    ports.queries.list_withdrawals_for_review(LIST_LIMIT).await
}

/// Ends the withdrawal as the operator decided. The same commit writes a row of the audit log. Returns the stored
/// withdrawal.
///
/// # Errors
/// [`ResolveError`]. If the processor's record contradicts the decision, the decision is refused.
pub async fn resolve(
    ports: &Ports,
    operator: &Actor,
    id: CryptoWithdrawalId,
    (decision, note): (&Decision, &Text),
    missing: MissingRecord,
) -> Result<Withdrawal, ResolveError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        let (after, change) = prepare(ports, operator, id, (decision, note), missing).await?;
        // A poll may have changed the withdrawal meanwhile. The next attempt reads it and checks the decision again.
        if commit_unless_stale(ports, change).await? {
            return Ok(after);
        }
    }
    Err(StoreError::contended().into())
}

/// Returns the withdrawal after the decision, and the changes with a row of the audit log.
///
/// # Errors
/// [`ResolveError`].
pub(crate) async fn prepare(
    ports: &Ports,
    operator: &Actor,
    id: CryptoWithdrawalId,
    (decision, note): (&Decision, &Text),
    missing: MissingRecord,
) -> Result<(Withdrawal, ChangeSet), ResolveError> {
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
    let without_record = match (missing_record(ports, &before, decision).await?, missing) {
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
    Ok((after, change))
}

/// Reads the processor's record for the decision. Returns `None` if the record, or its absence, permits the decision.
/// Otherwise returns the reason why the record is missing:
/// - The processor cannot be read.
/// - The decision is `Failed`, and the processor no longer shows the batch of the withdrawal.
///
/// # Errors
/// [`ResolveError::Shown`] if the record contradicts the decision.
async fn missing_record(
    ports: &Ports,
    withdrawal: &Withdrawal,
    decision: &Decision,
) -> Result<Option<ResolveError>, ResolveError> {
    let batch = withdrawal.state.sent().and_then(|sent| sent.batch.clone());
    match (search(ports, withdrawal, READ_BUDGET).await, batch, decision) {
        (Ok(Some(UpstreamWithdrawal { status, .. })), _, _) if excludes(status, decision) => {
            Err(ResolveError::Shown(status))
        }
        // The batch may have been verified, so the processor may still send the coins.
        (Ok(None), Some(batch), Decision::Failed) => Ok(Some(ResolveError::NotShown(batch))),
        (Ok(Some(_)), _, _) | (Ok(None), Some(_), Decision::Sent { .. }) | (Ok(None), None, _) => Ok(None),
        (Err(error), _, _) => Ok(Some(error.into())),
    }
}

/// Returns whether the outcome is open, and the withdrawal is so old that no request of this service can be in transit.
fn is_open_for_long(withdrawal: &Withdrawal, now: Timestamp) -> bool {
    withdrawal.state.status() == WithdrawalStatus::Processing && withdrawal.is_overdue(now)
}

/// Returns whether the processor's status contradicts the decision.
///
/// `Sent` is impossible if the batch is unverified or rejected, because the processor has sent no coins. `Failed`
/// returns the money, so it is impossible if the processor has sent the batch or may still send it. An unverified batch
/// may still be verified and sent.
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

/// Returns the fields that a decision changes, as JSON for the audit log.
fn record(withdrawal: &Withdrawal, note: Option<&Text>, without_record: bool) -> Vec<u8> {
    let fields = Fields::new()
        .text("status", withdrawal.state.status().as_str())
        .flag("review", withdrawal.state.review_since().is_some())
        .optional_text("tx_hash", withdrawal.tx_hash.as_deref())
        .optional_text("note", note);
    let fields = if without_record { fields.flag("without_processor", true) } else { fields };
    fields.into_json()
}
