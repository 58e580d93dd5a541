//! Updates a payout from its acquirer's record. Only the record in the reply to the creation is applied elsewhere, in
//! `keyed`.

use std::time::Duration;

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::payout::{Payout, PayoutStep};
use cais_ports::{CommitError, UpstreamPayout};

use super::changes::Steps;
use super::decide::judge;
use crate::ports::Ports;
use crate::store_error::{MAX_COMMIT_RETRIES, StoreError};
pub(crate) use crate::upstream_order::SyncError;
use crate::upstream_order::{StoredRecord as _, UpstreamOrder as _};

/// Reads the payout at its acquirer, and applies the acquirer's record.
pub(crate) async fn refresh(ports: &Ports, payout: Payout, budget: Duration) -> Result<Payout, SyncError> {
    Ok(refresh_seen(ports, payout, budget).await?.payout)
}

/// Works like [`refresh`], and also returns the ids of the returned parts that can never be credited.
pub(crate) async fn refresh_seen(ports: &Ports, payout: Payout, budget: Duration) -> Result<Seen, SyncError> {
    let upstream = ports
        .acquirer(payout.state.acquirer())?
        .find_payout(&payout.instruction_id(), budget)
        .await?
        .ok_or(SyncError::Unknown)?;
    Ok(apply_seen(ports, payout, &upstream).await?)
}

/// Works like [`refresh_seen`], and also reads the return with the id `return_id`. Some acquirers do not show returns
/// with their payouts.
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
    // If the record already contains the part, the part is still credited only once.
    upstream.returned.extend(part);
    Ok(apply_seen(ports, payout, &upstream).await?)
}

/// The result of a read at the payout's acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The payout after the read.
    pub payout: Payout,
    /// The ids of the record's returned parts that can never be credited. An alert was raised.
    pub refused: Vec<ReturnId>,
}

/// Applies the acquirer's record in one commit: the outcome, and every returned part once.
///
/// An outcome ends the polling. So the returned parts of the same record must be applied in the same commit.
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
        steps.credit_returns(ports, &upstream.returned).await?;
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
