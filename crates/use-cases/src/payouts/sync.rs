//! Updates a payout from its acquirer's record. No other code applies such a record.

use std::time::Duration;

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::payout::{Payout, PayoutError, PayoutState, PayoutStep, Recipient};
use cais_ports::{CommitError, UpstreamPayout, UpstreamProgress, alerts};
use jiff::Timestamp;

use super::steps::Steps;
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
pub(crate) use crate::upstream_order::SyncError;
use crate::upstream_order::{StoredRecord as _, UpstreamOrder as _};
use crate::upstream_text::plain;

/// The reason of a failure for which the acquirer names none.
const NO_REASON: &str = "the institution of the recipient did not take it";

/// Reads the payout at its acquirer and applies the result.
pub(crate) async fn refresh(ports: &Ports, payout: Payout, budget: Duration) -> Result<Payout, SyncError> {
    Ok(refresh_seen(ports, payout, budget).await?.payout)
}

/// Does the same as [`refresh`], and also returns the parts that were not credited.
pub(crate) async fn refresh_seen(ports: &Ports, payout: Payout, budget: Duration) -> Result<Seen, SyncError> {
    let upstream = ports
        .acquirer(payout.state.acquirer())?
        .find_payout(&payout.instruction_id(), budget)
        .await?
        .ok_or(SyncError::Unknown)?;
    Ok(apply_seen(ports, payout, &upstream).await?)
}

/// Does the same as [`refresh_seen`], and adds a return that the acquirer shows only by the id of the return.
pub(crate) async fn refresh_with_return(
    ports: &Ports,
    payout: Payout,
    return_id: &ReturnId,
    budget: Duration,
) -> Result<Seen, SyncError> {
    let acquirer = ports.acquirer(payout.state.acquirer())?;
    let part = acquirer.find_payout_return(return_id, budget).await?;
    let upstream = acquirer.find_payout(&payout.instruction_id(), budget).await?;
    let mut upstream = upstream.ok_or(SyncError::Unknown)?;
    // A repeated part is credited once.
    upstream.returned.extend(part);
    Ok(apply_seen(ports, payout, &upstream).await?)
}

/// The result of reading the payout's acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The payout after the read.
    pub payout: Payout,
    /// The returned parts in the record that can never be credited. An alert was raised.
    pub refused: Vec<ReturnId>,
}

/// Applies the acquirer's record: the outcome and every returned part, each once, in one commit.
///
/// An outcome ends the polling, so the returned parts in the same record must not be left for later.
pub(crate) async fn apply(ports: &Ports, payout: Payout, upstream: &UpstreamPayout) -> Result<Payout, StoreError> {
    Ok(apply_seen(ports, payout, upstream).await?.payout)
}

async fn apply_seen(ports: &Ports, mut payout: Payout, upstream: &UpstreamPayout) -> Result<Seen, StoreError> {
    if !payout.agrees(upstream) {
        let refused = upstream.returned.iter().map(|part| part.return_id.clone()).collect();
        return Ok(Seen { payout, refused });
    }
    for _ in 0..MAX_COMMIT_RETRIES {
        let now = ports.clock.now();
        let step = judge(payout.clone(), upstream, now)?;
        let mut steps = Steps::begin(ports, step, now);
        steps.take_back(ports, &upstream.returned).await?;
        let refused = steps.refused().to_vec();
        match commit(ports, steps).await {
            Ok(payout) => return Ok(Seen { payout, refused }),
            // Another process has credited a part or changed the payout.
            Err(CommitError::Taken { .. } | CommitError::Stale) => payout = payout.reread(ports).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::contended())
}

/// Returns the step that follows from the acquirer's record. A payout that was being sent always changes its state.
///
/// An outcome is never reversed by a record. A contradiction raises an alert and appears in the reconciliation.
pub(super) fn judge(payout: Payout, upstream: &UpstreamPayout, now: Timestamp) -> Result<PayoutStep, PayoutError> {
    let recipient = Recipient {
        name: upstream.recipient.name.as_deref().map(plain).filter(|name| !name.is_empty()),
        document: upstream.recipient.document.as_deref().map(plain).filter(|document| !document.is_empty()),
    };
    let end_to_end_id = upstream.end_to_end_id.clone().or_else(|| payout.state.end_to_end_id().cloned());
    match (&payout.state, progress(upstream)) {
        (PayoutState::Pending { .. } | PayoutState::Processing(_), progress) => match (progress, end_to_end_id) {
            (UpstreamProgress::Done { at }, Some(id)) => payout.complete(id, recipient, at.unwrap_or(now)),
            (UpstreamProgress::Failed { reason }, _) => payout.fail(why(reason.as_deref()), now),
            // An arrival without an end-to-end id is not certain.
            (UpstreamProgress::Processing | UpstreamProgress::Done { .. }, id) => payout.send(id, recipient, now),
        },
        (PayoutState::Completed { .. } | PayoutState::Reversed { .. }, UpstreamProgress::Failed { .. })
        | (PayoutState::Failed { .. } | PayoutState::Abandoned { .. }, UpstreamProgress::Done { .. })
        | (PayoutState::Abandoned { .. }, UpstreamProgress::Processing) => {
            tracing::error!(
                alert = alerts::PAYOUT_CONTRADICTED, payout = %payout.id, acquirer = %payout.state.acquirer(), ours = payout.state.status().as_str(),
                theirs = ?upstream.progress, "outcome of a payout contradicted by its acquirer; manual settlement with the merchant needed"
            );
            Ok(PayoutStep::AlreadyTaken(payout))
        }
        // The record was read before the outcome and judged after it.
        (
            PayoutState::Completed { .. } | PayoutState::Reversed { .. },
            UpstreamProgress::Processing | UpstreamProgress::Done { .. },
        )
        | (PayoutState::Failed { .. }, UpstreamProgress::Processing | UpstreamProgress::Failed { .. })
        | (PayoutState::Abandoned { .. }, UpstreamProgress::Failed { .. }) => Ok(PayoutStep::AlreadyTaken(payout)),
    }
}

/// Returns the progress of the payout. A payout that came back has arrived.
fn progress(upstream: &UpstreamPayout) -> UpstreamProgress {
    match (&upstream.progress, upstream.returned.first()) {
        (UpstreamProgress::Processing, Some(part)) => UpstreamProgress::Done { at: Some(part.at) },
        (progress, _) => progress.clone(),
    }
}

/// Commits a step and returns the stored payout.
pub(super) async fn commit_step(ports: &Ports, step: PayoutStep) -> Result<Payout, CommitError> {
    commit(ports, Steps::begin(ports, step, ports.clock.now())).await
}

async fn commit(ports: &Ports, steps: Steps) -> Result<Payout, CommitError> {
    let (change, payout) = steps.done();
    if !change.writes.is_empty() {
        ports.store.commit(change).await?;
    }
    Ok(payout)
}

/// Returns the reason of a failure in the form for merchants.
pub(super) fn why(reason: Option<&str>) -> String {
    let reason = reason.map(plain).unwrap_or_default();
    if reason.is_empty() { NO_REASON.to_owned() } else { reason }
}
