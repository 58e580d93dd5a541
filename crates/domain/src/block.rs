//! What infractions hold of an account's money: how much of it, and where a shortfall is taken from.

use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, InfractionId};
use crate::ledger::{Bucket, Cover, EntryKind, LedgerAccount, Transfer};
use crate::money::{Money, MoneyError};

/// What one open infraction holds. `held` never exceeds `limit`, and all `held` of an account are its blocked balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Whose money it is.
    pub account: AccountId,
    /// What it is held for.
    pub infraction: InfractionId,
    /// The disputed Pix.
    pub end_to_end_id: EndToEndId,
    /// How much is to be held.
    pub limit: Money,
    /// How much is.
    pub held: Money,
}

impl Block {
    /// What is missing.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], which no block of the store can cause.
    pub fn shortfall(&self) -> Result<Money, MoneyError> {
        self.limit.checked_sub(self.held)
    }

    /// The movement of a part of it.
    fn transfer(&self, from: LedgerAccount, to: LedgerAccount, amount: Money, kind: EntryKind) -> Transfer {
        let (resource, end_to_end_id) = (Some(self.infraction.to_string()), Some(self.end_to_end_id.clone()));
        Transfer { from, to, amount, cover: Cover::Required, kind, resource, end_to_end_id }
    }

    const fn bucket(&self, bucket: Bucket) -> LedgerAccount {
        LedgerAccount::Merchant(self.account, bucket)
    }
}

/// Where what a block holds goes when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockEnd {
    /// It may be used again.
    Released,
    /// It went back to the payer, through this row of its acquirer's settlement account.
    Returned(LedgerAccount),
}

/// What a change set does to a block. The store moves the money, because only it knows how much there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockChange {
    /// So much is to be held from now on; a new block, or one with another limit. What is above the limit is free again.
    Hold {
        /// Whose money it is.
        account: AccountId,
        /// What it is held for.
        infraction: InfractionId,
        /// The disputed Pix.
        end_to_end_id: EndToEndId,
        /// How much is to be held.
        limit: Money,
    },
    /// It ends. The change is refused as stale unless exactly `held` is held.
    End {
        /// Whose money it is.
        account: AccountId,
        /// What it was held for.
        infraction: InfractionId,
        /// What whoever decided this read.
        held: Money,
        /// Where it goes.
        to: BlockEnd,
    },
}

impl BlockChange {
    /// Whose money it is about.
    #[must_use]
    pub const fn account(&self) -> AccountId {
        match self {
            Self::Hold { account, .. } | Self::End { account, .. } => *account,
        }
    }

    /// Which infraction it is about.
    #[must_use]
    pub const fn infraction(&self) -> InfractionId {
        match self {
            Self::Hold { infraction, .. } | Self::End { infraction, .. } => *infraction,
        }
    }
}

/// Sets the limit of a block; the movement that frees what it holds above that, if there is any.
///
/// # Errors
/// [`MoneyError::OutOfRange`], which no block of the store can cause.
pub fn hold(block: &mut Block, limit: Money) -> Result<Option<Transfer>, MoneyError> {
    block.limit = limit;
    let above = block.held.checked_sub(limit)?;
    if !above.is_positive() {
        return Ok(None);
    }
    block.held = limit;
    let (from, to) = (block.bucket(Bucket::Blocked), block.bucket(Bucket::Available));
    Ok(Some(block.transfer(from, to, above, EntryKind::InfractionReleased)))
}

/// The movement that ends a block; `None` when it holds nothing.
#[must_use]
pub fn end(block: &Block, to: &BlockEnd) -> Option<Transfer> {
    let from = block.bucket(Bucket::Blocked);
    let transfer = match to {
        BlockEnd::Released => {
            block.transfer(from, block.bucket(Bucket::Available), block.held, EntryKind::InfractionReleased)
        }
        BlockEnd::Returned(settlement) => {
            block.transfer(from, settlement.clone(), block.held, EntryKind::InfractionReturned)
        }
    };
    block.held.is_positive().then_some(transfer)
}

/// Takes what is missing from the account's money: `available` first, then `pending`, the oldest infraction first.
///
/// `blocks` are the account's, in the order of their infractions. Afterwards either nothing is missing or nothing is left.
///
/// # Errors
/// [`MoneyError::OutOfRange`], which no account of the store can cause.
pub fn sweep(available: Money, pending: Money, blocks: &mut [Block]) -> Result<Vec<Transfer>, MoneyError> {
    let mut transfers = Vec::new();
    for (bucket, mut left) in [(Bucket::Available, available), (Bucket::Pending, pending)] {
        for block in blocks.iter_mut() {
            let taken = block.shortfall()?.min(left);
            if !taken.is_positive() {
                continue;
            }
            left = left.checked_sub(taken)?;
            block.held = block.held.checked_add(taken)?;
            let (from, to) = (block.bucket(bucket), block.bucket(Bucket::Blocked));
            transfers.push(block.transfer(from, to, taken, EntryKind::Infraction));
        }
    }
    Ok(transfers)
}
