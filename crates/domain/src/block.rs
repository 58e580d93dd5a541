//! What infractions hold of an account's money: how much of it, where a shortfall is taken from, and where what is freed goes.

use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, InfractionId};
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
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
        Transfer { from, to, amount, overdraft: Overdraft::Forbidden, kind, resource, end_to_end_id }
    }

    const fn bucket(&self, bucket: Bucket) -> LedgerAccount {
        LedgerAccount::Merchant(self.account, bucket)
    }
}

/// Where what a block holds goes when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockEnd {
    /// It is the account's again: what is still to be released waits on, the rest may be used.
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

/// Sets the limit of a block; the movements that free what it holds above that. `seized_from_pending` is as [`debited`] and [`credited`] count it.
///
/// # Errors
/// [`MoneyError::OutOfRange`], which no block of the store can cause.
pub fn hold(block: &mut Block, limit: Money, seized_from_pending: Money) -> Result<Vec<Transfer>, MoneyError> {
    block.limit = limit;
    let above = block.held.checked_sub(limit)?;
    if !above.is_positive() {
        return Ok(Vec::new());
    }
    block.held = limit;
    free(block, above, seized_from_pending)
}

/// The movements that end a block; none when it holds nothing. `seized_from_pending` is as [`debited`] and [`credited`] count it.
///
/// # Errors
/// [`MoneyError::OutOfRange`], which no block of the store can cause.
pub fn end(block: &Block, to: &BlockEnd, seized_from_pending: Money) -> Result<Vec<Transfer>, MoneyError> {
    match to {
        _ if !block.held.is_positive() => Ok(Vec::new()),
        BlockEnd::Released => free(block, block.held, seized_from_pending),
        BlockEnd::Returned(settlement) => {
            let from = block.bucket(Bucket::Blocked);
            Ok(vec![block.transfer(from, settlement.clone(), block.held, EntryKind::InfractionReturned)])
        }
    }
}

/// Returns the movements that free `amount`. Seized money goes back to `pending`, so that a dispute ends no delay; the rest is available.
fn free(block: &Block, amount: Money, seized_from_pending: Money) -> Result<Vec<Transfer>, MoneyError> {
    let waits = amount.min(seized_from_pending);
    let parts = [(Bucket::Pending, waits), (Bucket::Available, amount.checked_sub(waits)?)];
    let parts = parts.into_iter().filter(|(_, part)| part.is_positive());
    let freed = parts.map(|(bucket, part)| {
        let (from, to) = (block.bucket(Bucket::Blocked), block.bucket(bucket));
        block.transfer(from, to, part, EntryKind::InfractionReleased)
    });
    Ok(freed.collect())
}

/// Applies the debit leg of `transfer`. Returns the amount that moves, and what is seized from `pending` afterwards.
///
/// A block on `pending` increases `seized_from_pending` by its amount. A release moves its amount less the minimum of both, and decreases
/// `seized_from_pending` by the same minimum. Other transfers leave `seized_from_pending` unchanged.
///
/// # Errors
/// [`MoneyError::OutOfRange`].
pub fn debited(transfer: &Transfer, seized_from_pending: Money) -> Result<(Money, Money), MoneyError> {
    let from_pending = matches!(transfer.from, LedgerAccount::Merchant(_, Bucket::Pending));
    if transfer.is_net_of_seized() {
        let less = transfer.amount.min(seized_from_pending);
        return Ok((transfer.amount.checked_sub(less)?, seized_from_pending.checked_sub(less)?));
    }
    let seizes = from_pending && transfer.kind == EntryKind::Infraction;
    let after = if seizes { seized_from_pending.checked_add(transfer.amount)? } else { seized_from_pending };
    Ok((transfer.amount, after))
}

/// Applies the credit leg of `transfer`. Returns what is seized from `pending` afterwards.
///
/// A block that frees money into `pending` decreases `seized_from_pending` by its amount, at most to zero.
///
/// # Errors
/// [`MoneyError::OutOfRange`].
pub fn credited(transfer: &Transfer, seized_from_pending: Money) -> Result<Money, MoneyError> {
    let to_pending = matches!(transfer.to, LedgerAccount::Merchant(_, Bucket::Pending));
    let frees = to_pending && transfer.kind == EntryKind::InfractionReleased;
    let less = if frees { transfer.amount.min(seized_from_pending) } else { Money::ZERO };
    seized_from_pending.checked_sub(less)
}

/// Blocks what is missing: from `available` first, then from `pending`, the oldest infraction first.
///
/// `blocks` are all blocks of the account in the order of their infractions. Afterwards either nothing is missing or nothing is left.
///
/// # Errors
/// [`MoneyError::OutOfRange`], which no account of the store can cause.
pub fn top_up_blocks(available: Money, pending: Money, blocks: &mut [Block]) -> Result<Vec<Transfer>, MoneyError> {
    let mut transfers = Vec::new();
    for (bucket, mut left) in [(Bucket::Available, available), (Bucket::Pending, pending)] {
        for block in blocks.iter_mut() {
            let amount = block.shortfall()?.min(left);
            if !amount.is_positive() {
                continue;
            }
            left = left.checked_sub(amount)?;
            block.held = block.held.checked_add(amount)?;
            let (from, to) = (block.bucket(bucket), block.bucket(Bucket::Blocked));
            transfers.push(block.transfer(from, to, amount, EntryKind::Infraction));
        }
    }
    Ok(transfers)
}
