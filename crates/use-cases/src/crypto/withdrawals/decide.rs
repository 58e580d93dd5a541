//! Decides the steps of a withdrawal that follow from the processor's reply or record.

use cais_domain::crypto::withdrawal::{Withdrawal, WithdrawalError, WithdrawalStatus};
use cais_ports::{UpstreamWithdrawal, UpstreamWithdrawalStatus, alerts};
use jiff::Timestamp;

use super::changes::Steps;
use crate::upstream_order::{KeyedResource as _, NextStep};
use crate::upstream_result::UpstreamResult;
use crate::upstream_text::plain;

/// The reason of a failure if the processor reports none.
const NO_REASON: &str = "the processor did not send the coins";

/// Returns the steps that follow from the reply. If a callback has changed the withdrawal since the request, only a
/// reply with a record adds steps.
pub(super) fn decide(
    withdrawal: Withdrawal,
    reply: &UpstreamResult<UpstreamWithdrawal>,
    now: Timestamp,
) -> Result<Steps, WithdrawalError> {
    let step = withdrawal.creation_state().step(reply);
    let steps = Steps::none(withdrawal);
    match step {
        NextStep::Apply(upstream) => judge(steps, upstream, now),
        NextStep::Fail(reason) => steps.then(|begun| begun.fail(why(Some(reason)), now)),
        NextStep::Abandon => steps.then(|begun| begun.abandon(now)),
        NextStep::StayOpen => steps.then(|begun| begun.send(None, now)),
        NextStep::None => Ok(steps),
    }
}

/// Adds the steps that follow from the processor's record.
///
/// A record never reverses an outcome. If it contradicts the outcome, an alert is raised.
pub(super) fn judge(steps: Steps, upstream: &UpstreamWithdrawal, now: Timestamp) -> Result<Steps, WithdrawalError> {
    let status = steps.withdrawal().state.status();
    if contradicts(status, upstream.status) {
        let withdrawal = steps.withdrawal();
        tracing::error!(
            alert = alerts::CRYPTO_WITHDRAWAL_CONTRADICTED, withdrawal = %withdrawal.id, processor = %withdrawal.processor,
            ours = status.as_str(), theirs = ?upstream.status, batch = %upstream.batch,
            "outcome of a withdrawal contradicted by the processor; an operator must agree on the difference with the merchant"
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

/// Returns whether the processor's status contradicts the stored outcome.
///
/// These cases are no contradiction:
/// - The stored withdrawal has no outcome yet.
/// - The stored status is `Completed` or `Failed`, and the processor shows the withdrawal as unfinished. The record may
///   have been read before the outcome was stored.
/// - The stored status and the processor's status are `Failed`. An operator may have decided so.
/// - The stored status is `Failed` or `Abandoned`, and the batch is unverified or rejected. The processor sends no
///   coins.
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

/// Returns the reason of a failure, as merchants see it.
pub(super) fn why(reason: Option<&str>) -> String {
    let reason = reason.map(plain).unwrap_or_default();
    if reason.is_empty() { NO_REASON.to_owned() } else { reason }
}
