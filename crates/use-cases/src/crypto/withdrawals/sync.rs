//! Updates a withdrawal from the processor's record, and verifies it. No other code does.

use std::time::Duration;

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalError, WithdrawalState, WithdrawalStatus};
use cais_ports::{AcquirerError, CommitError, UpstreamWithdrawal, UpstreamWithdrawalStatus, alerts};
use jiff::Timestamp;

use super::steps::Steps;
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
pub(crate) use crate::upstream_order::SyncError;
use crate::upstream_order::{StoredRecord as _, UpstreamOrder as _, commit_update};
use crate::upstream_text::plain;

/// The reason of a failure for which the processor names none.
const NO_REASON: &str = "the processor did not send the coins";
/// Time for the verification, of the 10 s within which a POST answers.
const VERIFY_BUDGET: Duration = Duration::from_secs(2);

/// Reads the withdrawal at the processor and applies the result, without verifying it.
pub(crate) async fn refresh(ports: &Ports, withdrawal: Withdrawal, budget: Duration) -> Result<Withdrawal, SyncError> {
    let record = read(ports, &withdrawal, budget).await?.ok_or(SyncError::Unknown)?;
    Ok(apply(ports, withdrawal, &record).await?)
}

/// Reads the withdrawal in its batch. While the batch is unknown, searches for our identifier.
async fn read(
    ports: &Ports,
    withdrawal: &Withdrawal,
    budget: Duration,
) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
    let processor = ports.crypto_processor(&withdrawal.processor)?;
    match withdrawal.state.sent().and_then(|sent| sent.batch.as_ref()) {
        Some(batch) => processor.get_withdrawal(withdrawal.id, batch, budget).await.map(Some),
        None => processor.find_withdrawal(withdrawal.id, budget).await,
    }
}

/// Reads the withdrawal in its batch. If the batch is missing or unreadable, searches for our identifier, because a
/// missing batch and a lost reply have the same error.
pub(crate) async fn search(
    ports: &Ports,
    withdrawal: &Withdrawal,
    budget: Duration,
) -> Result<Option<UpstreamWithdrawal>, AcquirerError> {
    let has_batch = withdrawal.state.sent().is_some_and(|sent| sent.batch.is_some());
    match read(ports, withdrawal, budget).await {
        Err(AcquirerError::OutcomeUnknown(_)) if has_batch => {
            ports.crypto_processor(&withdrawal.processor)?.find_withdrawal(withdrawal.id, budget).await
        }
        read => read,
    }
}

/// Applies the processor's record in one commit.
pub(super) async fn apply(
    ports: &Ports,
    mut withdrawal: Withdrawal,
    upstream: &UpstreamWithdrawal,
) -> Result<Withdrawal, StoreError> {
    for _ in 0..MAX_COMMIT_RETRIES {
        if !withdrawal.agrees(upstream) {
            return Ok(withdrawal);
        }
        let now = ports.clock.now();
        let (change, after) = judge(Steps::none(withdrawal.clone()), upstream, now)?.done(ports, now);
        if change.writes.is_empty() {
            return Ok(after);
        }
        match ports.store.commit(change).await {
            Ok(_) => return Ok(after),
            // Another process has changed the withdrawal.
            Err(CommitError::Stale) => withdrawal = withdrawal.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Adds the steps that follow from the processor's record.
///
/// An outcome is never reversed by a record: a contradiction raises an alert.
pub(super) fn judge(steps: Steps, upstream: &UpstreamWithdrawal, now: Timestamp) -> Result<Steps, WithdrawalError> {
    let status = steps.withdrawal().state.status();
    if contradicts(status, upstream.status) {
        let withdrawal = steps.withdrawal();
        tracing::error!(
            alert = alerts::CRYPTO_WITHDRAWAL_CONTRADICTED, withdrawal = %withdrawal.id, processor = %withdrawal.processor,
            ours = status.as_str(), theirs = ?upstream.status, batch = %upstream.batch,
            "outcome of a withdrawal contradicted by the processor; manual settlement with the merchant needed"
        );
    }
    match status {
        WithdrawalStatus::Completed | WithdrawalStatus::Failed | WithdrawalStatus::Abandoned => return Ok(steps),
        WithdrawalStatus::Pending | WithdrawalStatus::Processing => {}
    }
    let steps = steps.then(|open| open.send(Some(upstream.batch.clone()), now))?;
    match upstream.status {
        UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Processing => Ok(steps),
        UpstreamWithdrawalStatus::Finished => {
            steps.then(|open| open.complete(upstream.tx_hash.as_deref().map(plain), upstream.network_fee, now))
        }
        UpstreamWithdrawalStatus::Rejected => steps.then(|open| open.fail(why(upstream.error.as_deref()), now)),
        UpstreamWithdrawalStatus::Failed => steps.then(|open| open.review(now)),
    }
}

/// Returns whether the processor's status cannot belong to a withdrawal with that outcome.
///
/// A record can be read before the outcome and judged after it. An operator may fail a withdrawal that the processor
/// shows as `Failed`, and a batch that is not verified sends nothing.
const fn contradicts(ours: WithdrawalStatus, theirs: UpstreamWithdrawalStatus) -> bool {
    match (ours, theirs) {
        (WithdrawalStatus::Pending | WithdrawalStatus::Processing, _)
        | (
            WithdrawalStatus::Completed,
            UpstreamWithdrawalStatus::Unverified
            | UpstreamWithdrawalStatus::Processing
            | UpstreamWithdrawalStatus::Finished,
        )
        | (
            WithdrawalStatus::Failed | WithdrawalStatus::Abandoned,
            UpstreamWithdrawalStatus::Unverified | UpstreamWithdrawalStatus::Rejected,
        )
        | (WithdrawalStatus::Failed, UpstreamWithdrawalStatus::Failed | UpstreamWithdrawalStatus::Processing) => false,
        (WithdrawalStatus::Completed, UpstreamWithdrawalStatus::Failed | UpstreamWithdrawalStatus::Rejected)
        | (WithdrawalStatus::Failed, UpstreamWithdrawalStatus::Finished)
        | (
            WithdrawalStatus::Abandoned,
            UpstreamWithdrawalStatus::Processing
            | UpstreamWithdrawalStatus::Finished
            | UpstreamWithdrawalStatus::Failed,
        ) => true,
    }
}

/// Verifies a stored withdrawal that the processor shows as not verified. After a failure the withdrawal stays
/// unverified. The next poll uses another code.
///
/// The batch of the record must be stored. A withdrawal with an outcome is not verified: its money may be given back.
pub(super) async fn verify(ports: &Ports, withdrawal: &Withdrawal, upstream: &UpstreamWithdrawal) {
    let WithdrawalState::Processing { sent, .. } = &withdrawal.state else { return };
    let is_verifiable = upstream.status == UpstreamWithdrawalStatus::Unverified && withdrawal.agrees(upstream);
    let Some(batch) = sent.batch.as_ref().filter(|_| is_verifiable) else { return };
    let now = ports.clock.now();
    let verified = match ports.crypto_processor(&withdrawal.processor) {
        Ok(processor) => processor.verify_withdrawal(batch, now, VERIFY_BUDGET).await,
        Err(error) => Err(error),
    };
    match verified {
        Ok(()) => {}
        Err(error) if withdrawal.is_overdue(now) => tracing::error!(
            alert = alerts::CRYPTO_WITHDRAWAL_UNVERIFIED, withdrawal = %withdrawal.id, processor = %withdrawal.processor, %batch, %error,
            "withdrawal could not be verified for minutes; the processor rejects it after an hour"
        ),
        Err(error) => tracing::warn!(
            withdrawal = %withdrawal.id, processor = %withdrawal.processor, %batch, %error,
            "withdrawal not verified yet; the next poll verifies it"
        ),
    }
}

/// Marks a withdrawal that the processor has not shown for long, and sets its next poll.
pub(super) async fn mark_absent(ports: &Ports, withdrawal: Withdrawal) -> Result<Withdrawal, StoreError> {
    let now = ports.clock.now();
    if !withdrawal.is_overdue(now) {
        return Ok(withdrawal);
    }
    let steps = Steps::none(withdrawal.clone()).then(|open| open.review(now))?;
    let marked = steps.withdrawal().clone();
    if marked == withdrawal {
        return Ok(withdrawal);
    }
    match commit_update(ports, marked.asked(now)).await {
        Ok(marked) => Ok(marked),
        // Another process has changed the withdrawal. The next poll reads it again.
        Err(CommitError::Stale) => withdrawal.reread(ports).await,
        Err(error) => Err(error.into()),
    }
}

/// Returns the reason of a failure in the form for merchants.
pub(super) fn why(reason: Option<&str>) -> String {
    let reason = reason.map(plain).unwrap_or_default();
    if reason.is_empty() { NO_REASON.to_owned() } else { reason }
}
