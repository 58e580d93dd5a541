//! Money that infractions block: the held amount, the source of top-ups, and the destination of freed money.

use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, InfractionId};
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
use crate::money::{Money, MoneyError};

/// The money that an open infraction holds. `held` never exceeds `limit`. The blocked balance of an account is the sum
/// of `held` over its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The owner of the money.
    pub account: AccountId,
    /// The infraction that blocks the money.
    pub infraction: InfractionId,
    /// The disputed Pix.
    pub end_to_end_id: EndToEndId,
    /// The amount to hold.
    pub limit: Money,
    /// The amount held now.
    pub held: Money,
}

impl Block {
    /// Returns the amount that the block should hold but does not.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], impossible for stored blocks.
    pub fn shortfall(&self) -> Result<Money, MoneyError> {
        self.limit.checked_sub(self.held)
    }

    /// Returns a transfer of `amount` with the ids of the infraction and of the disputed Pix.
    fn transfer(&self, from: LedgerAccount, to: LedgerAccount, amount: Money, kind: EntryKind) -> Transfer {
        let (resource, end_to_end_id) = (Some(self.infraction.to_string()), Some(self.end_to_end_id.clone()));
        Transfer { from, to, amount, overdraft: Overdraft::Forbidden, kind, resource, end_to_end_id }
    }

    const fn bucket(&self, bucket: Bucket) -> LedgerAccount {
        LedgerAccount::Merchant(self.account, bucket)
    }
}

/// The destination of held money when a block ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockEnd {
    /// The money returns to the account. The part that was not released yet goes to `pending`, and the rest to
    /// `available`.
    Released,
    /// The money was returned to the payer. The value is the row of the acquirer's settlement account.
    Returned(LedgerAccount),
}

/// A change of a block. The store derives the transfers, because they depend on the balances at commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockChange {
    /// Creates a block or changes its limit. If the block holds more than the limit, the excess is freed.
    Hold {
        /// The owner of the money.
        account: AccountId,
        /// The infraction that blocks the money.
        infraction: InfractionId,
        /// The disputed Pix.
        end_to_end_id: EndToEndId,
        /// The amount to hold.
        limit: Money,
    },
    /// Ends the block. The commit fails with `Stale` unless the block holds exactly `held`.
    End {
        /// The owner of the money.
        account: AccountId,
        /// The infraction that blocks the money.
        infraction: InfractionId,
        /// The held amount on which the decision is based.
        held: Money,
        /// The destination of the held money.
        to: BlockEnd,
    },
}

impl BlockChange {
    /// Returns the owner of the money.
    #[must_use]
    pub const fn account(&self) -> AccountId {
        match self {
            Self::Hold { account, .. } | Self::End { account, .. } => *account,
        }
    }

    /// Returns the infraction.
    #[must_use]
    pub const fn infraction(&self) -> InfractionId {
        match self {
            Self::Hold { infraction, .. } | Self::End { infraction, .. } => *infraction,
        }
    }
}

/// Sets the limit of a block. Returns the transfers that free the amount above the limit. `seized_from_pending` is the
/// part of the account's pending money that blocks hold; [`debited`] and [`credited`] compute it.
///
/// # Errors
/// [`MoneyError::OutOfRange`], impossible for stored blocks.
pub fn hold(block: &mut Block, limit: Money, seized_from_pending: Money) -> Result<Vec<Transfer>, MoneyError> {
    block.limit = limit;
    let above = block.held.checked_sub(limit)?;
    if !above.is_positive() {
        return Ok(Vec::new());
    }
    block.held = limit;
    free(block, above, seized_from_pending)
}

/// Returns the transfers that end a block; none if the block holds no money. `seized_from_pending` is the part of the
/// account's pending money that blocks hold; [`debited`] and [`credited`] compute it.
///
/// # Errors
/// [`MoneyError::OutOfRange`], impossible for stored blocks.
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

/// Returns the transfers that free `amount`. Money that was seized from `pending` goes back there, so that a dispute
/// does not shorten the release delay. The rest goes to `available`.
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

/// Applies the debit leg of `transfer`. Returns `(amount_moved, seized_after)`.
///
/// A block on `pending` increases `seized_from_pending` by its amount. A release moves `amount - min(amount,
/// seized_from_pending)` and decreases `seized_from_pending` by the same minimum. Other transfers leave
/// `seized_from_pending` unchanged.
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

/// Applies the credit leg of `transfer`. Returns the new `seized_from_pending`.
///
/// If a block frees money into `pending`, `seized_from_pending` decreases by the amount, but not below zero.
///
/// # Errors
/// [`MoneyError::OutOfRange`].
pub fn credited(transfer: &Transfer, seized_from_pending: Money) -> Result<Money, MoneyError> {
    let to_pending = matches!(transfer.to, LedgerAccount::Merchant(_, Bucket::Pending));
    let frees = to_pending && transfer.kind == EntryKind::InfractionReleased;
    let less = if frees { transfer.amount.min(seized_from_pending) } else { Money::ZERO };
    seized_from_pending.checked_sub(less)
}

/// Tops up blocks that hold less than their limit. Money comes from `available` first, then from `pending`. Each
/// bucket tops up the block of the oldest infraction first.
///
/// `blocks` are all blocks of the account, the oldest infraction first. Afterwards all blocks hold their limit,
/// or no money is left.
///
/// # Errors
/// [`MoneyError::OutOfRange`], impossible for stored accounts.
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
