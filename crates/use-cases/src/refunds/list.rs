//! Listing the refunds of a charge, newest first; those whose outcome is open are refreshed from upstream.

use cais_domain::ids::{AccountId, RefundId};
use cais_domain::refund::{Refund, RefundStatus};
use cais_ports::{Page, PageRequest};
use futures_util::{StreamExt as _, stream};

use super::fetch::refreshed;
use crate::charges::fetch::{ChargeName, FetchChargeError, find};
use crate::ports::Ports;
use crate::sync_gate::SyncGate;
use crate::trouble::{RETRY_AFTER_S, Trouble};

/// How many refunds of a page are asked for, all at once; the newest first. The poller follows the others.
const REFRESHED: usize = 16;

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListRefundsError {
    /// The account has no charge of that name.
    #[error("there is no such charge")]
    NotFound,
    /// The charge is being created.
    #[error("the charge is still being created")]
    InProgress {
        /// When to look again.
        retry_after_s: u32,
    },
    /// The page is to begin after a refund that the charge does not have.
    #[error("`starting_after` names no refund of this charge")]
    UnknownCursor,
    /// The store does not answer.
    #[error("the service is temporarily unavailable")]
    Unavailable {
        /// When to repeat.
        retry_after_s: u32,
    },
    /// A bug or a damaged store.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<Trouble> for ListRefundsError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unavailable(_) => Self::Unavailable { retry_after_s: RETRY_AFTER_S },
            Trouble::Internal(cause) => Self::Internal(cause),
        }
    }
}

impl From<FetchChargeError> for ListRefundsError {
    fn from(error: FetchChargeError) -> Self {
        match error {
            FetchChargeError::NotFound => Self::NotFound,
            FetchChargeError::InProgress { retry_after_s } => Self::InProgress { retry_after_s },
            FetchChargeError::Unavailable { retry_after_s } => Self::Unavailable { retry_after_s },
            FetchChargeError::Internal(cause) => Self::Internal(cause),
        }
    }
}

/// A page of the charge's refunds, as upstream has them where it answers in time, else as they are stored.
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
    let charge = find(ports, account, charge).await?.id;
    if let Some(cursor) = page.starting_after {
        let known = ports.queries.find_refund(account, cursor).await.map_err(Trouble::from)?;
        if !known.is_some_and(|refund| refund.charge == charge && refund.is_visible()) {
            return Err(ListRefundsError::UnknownCursor);
        }
    }
    let mut page = ports.queries.list_refunds(account, charge, page).await.map_err(Trouble::from)?;
    let now = ports.clock.now();
    let open = page
        .rows
        .iter()
        .filter(|refund| refund.state.status() == RefundStatus::Processing && syncs.admit(refund.id.uuid(), now));
    let asked: Vec<Refund> = open.take(REFRESHED).cloned().collect();
    let fresh: Vec<Refund> = stream::iter(asked)
        .map(|refund| async move { refreshed(ports, refund).await })
        .buffer_unordered(REFRESHED)
        .collect()
        .await;
    for refund in fresh {
        if let Some(row) = page.rows.iter_mut().find(|row| row.id == refund.id) {
            *row = refund;
        }
    }
    Ok(page)
}
