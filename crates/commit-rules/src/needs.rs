//! The ledger rows that change sets need.

use std::collections::BTreeSet;

use cais_domain::block::{BlockChange, BlockEnd};
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_ports::ChangeSet;

/// The ledger rows that a [`crate::Snapshot`] must hold for change sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerNeeds<'a> {
    /// Ledger accounts that change sets debit or credit.
    pub moving: BTreeSet<&'a LedgerAccount>,
    /// Accounts with events: their counters and endpoints are needed.
    pub counted: BTreeSet<AccountId>,
    /// Accounts that are credited. If such an account has an under-funded block (one that holds less than its limit),
    /// the caller must add the account to `blocking`.
    pub credited: BTreeSet<AccountId>,
    /// Accounts whose blocks change or may change. Each needs the balances in [`LedgerNeeds::parts`] and all its
    /// blocks.
    pub blocking: BTreeSet<AccountId>,
}

impl<'a> LedgerNeeds<'a> {
    /// Collects the needs of change sets.
    #[must_use]
    pub fn of(changes: &[&'a ChangeSet]) -> Self {
        let transfers = changes.iter().flat_map(|change| &change.transfers);
        let blocks = changes.iter().flat_map(|change| &change.blocks);
        let moving = transfers.flat_map(|transfer| [&transfer.from, &transfer.to]);
        Self {
            moving: moving.chain(blocks.clone().filter_map(returned_to)).collect(),
            counted: changes.iter().flat_map(|change| &change.events).map(|event| event.account).collect(),
            credited: changes.iter().flat_map(|change| credited_by(change)).collect(),
            blocking: blocks.map(BlockChange::account).collect(),
        }
    }

    /// Returns the ledger accounts of `account` between which blocks move money.
    #[must_use]
    pub fn parts(account: AccountId) -> [LedgerAccount; 3] {
        [Bucket::Available, Bucket::Pending, Bucket::Blocked].map(|bucket| LedgerAccount::Merchant(account, bucket))
    }

    /// Returns every ledger account that is needed in the worst case, in which each credited account has an
    /// under-funded block.
    #[must_use]
    pub fn every_balance(&self) -> BTreeSet<LedgerAccount> {
        let of_blocks = self.blocking.union(&self.credited).flat_map(|account| Self::parts(*account));
        self.moving.iter().copied().cloned().chain(of_blocks).collect()
    }
}

/// Returns the accounts whose `available` or `pending` the transfers of `change` credit. The same account may occur
/// more than once.
pub(crate) fn credited_by(change: &ChangeSet) -> impl Iterator<Item = AccountId> {
    change.transfers.iter().filter_map(|transfer| match transfer.to {
        LedgerAccount::Merchant(account, Bucket::Available | Bucket::Pending) => Some(account),
        LedgerAccount::Merchant(_, Bucket::Blocked | Bucket::InTransit) | LedgerAccount::System(..) => None,
    })
}

/// Returns the settlement account that the money of an ending block goes back to.
fn returned_to(change: &BlockChange) -> Option<&LedgerAccount> {
    match change {
        BlockChange::End { to: BlockEnd::Returned(settlement), .. } => Some(settlement),
        BlockChange::End { to: BlockEnd::Released, .. } | BlockChange::Hold { .. } => None,
    }
}
