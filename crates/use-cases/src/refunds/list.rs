//! Lists the refunds of a charge. The newest come first. Refunds with an open outcome are refreshed from the acquirer.

use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, RefundId};
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::{Page, PageRequest};
use futures_util::{StreamExt as _, stream};

use super::fetch::READ_BUDGET;
use super::sync::refresh;
use crate::charges::fetch::{ChargeName, find};
use crate::ports::Ports;
use crate::statement::ListError;
use crate::store_error::StoreError;
use crate::sync_gate::SyncGate;
use crate::upstream_order::FetchError;

/// The largest number of refunds that one call refreshes, all concurrently. If more refunds of the page have an open
/// outcome, the newest are selected. The worker refreshes the older ones at their next poll.
const MAX_REFRESHED: usize = 16;

/// The reason why no page is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListRefundsError {
    /// The charge does not exist, or cannot be read.
    #[error(transparent)]
    Charge(#[from] FetchError),
    /// The refunds cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
}

/// Returns a page of the charge's refunds. Before the page is returned, its newest refunds with an open outcome are
/// refreshed from the acquirer, each at most once per second. A refund that is not refreshed within 3 s is returned as
/// stored.
///
/// # Errors
/// [`ListRefundsError`].
pub async fn list(
    ports: &Ports,
    syncs: &SyncGate,
    account: AccountId,
    charge: &ChargeName,
    page: PageRequest<RefundId>,
) -> Result<Page<Refund>, ListRefundsError> {
    let charge = find::<Charge>(ports, account, charge).await?.id;
    if let Some(cursor) = page.starting_after {
        let known = ports
            .queries
            .find_refund(account, cursor)
            .await
            .map_err(|error| ListError::from(StoreError::from(error)))?;
        if !known.is_some_and(|refund| refund.charge == charge && refund.is_visible()) {
            return Err(ListError::UnknownCursor.into());
        }
    }
    let mut page = ports
        .queries
        .list_refunds(account, charge, page)
        .await
        .map_err(|error| ListError::from(StoreError::from(error)))?;
    let now = ports.clock.now();
    let open = page
        .rows
        .iter()
        .filter(|refund| refund.state.status() == RefundStatus::Processing && syncs.admit(refund.id.uuid(), now));
    let selected: Vec<Refund> = open.take(MAX_REFRESHED).cloned().collect();
    let fresh: Vec<Refund> = stream::iter(selected)
        .map(|refund| async move { refreshed(ports, refund).await })
        .buffer_unordered(MAX_REFRESHED)
        .collect()
        .await;
    for refund in fresh {
        if let Some(row) = page.rows.iter_mut().find(|row| row.id == refund.id) {
            *row = refund;
        }
    }
    Ok(page)
}

/// Returns the refreshed refund. If the refresh fails, returns the stored refund.
async fn refreshed(ports: &Ports, refund: Refund) -> Refund {
    refresh(ports, refund.clone(), READ_BUDGET).await.unwrap_or_else(|error| {
        tracing::warn!(refund = %refund.id, %error, "refund could not be refreshed from its acquirer; the stored state is shown");
        refund
    })
}
