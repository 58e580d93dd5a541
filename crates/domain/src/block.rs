//! Money blocked by infractions: amount held, source of top-ups, and destination of freed money.

use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, InfractionId};
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
use crate::money::{Money, MoneyError};

/// The money that an open infraction holds. `held` never exceeds `limit`. The sum of `held` of an account is its
/// blocked balance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The owner of the money.
    pub account: AccountId,
    /// The infraction.
    pub infraction: InfractionId,
    /// The disputed Pix.
    pub end_to_end_id: EndToEndId,
    /// The amount to hold.
    pub limit: Money,
    /// The amount held now.
    pub held: Money,
}

impl Block {
    /// Returns the missing amount.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], impossible for stored blocks.
    pub fn shortfall(&self) -> Result<Money, MoneyError> {
        self.limit.checked_sub(self.held)
    }

    /// Returns a transfer of a part of the block.
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
    /// The money returns to the account: the part that was still to be released to `pending`, the rest to `available`.
    Released,
    /// The money returned to the payer, through this row of the acquirer's settlement account.
    Returned(LedgerAccount),
}

/// A change of a block. The store derives the transfers, because they depend on balances at commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockChange {
    /// Creates a block or changes its limit. Money held above the limit is freed.
    Hold {
        /// The owner of the money.
        account: AccountId,
        /// The infraction.
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
        /// The infraction.
        infraction: InfractionId,
        /// The held amount that the decision was based on.
        held: Money,
        /// The destination.
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

/// Sets the limit of a block. Returns the transfers that free the amount above the limit. `seized_from_pending` has the
/// meaning of [`debited`] and [`credited`].
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

/// Returns the transfers that end a block, none for an empty block. `seized_from_pending` has the meaning of [`debited`]
/// and [`credited`].
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

/// Returns the transfers that free `amount`: seized money to `pending`, so that a dispute does not shorten the release
/// delay, the rest to `available`.
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

/// Applies the credit leg of `transfer`. Returns `seized_from_pending` after it.
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

/// Tops up under-funded blocks: from `available` first, then from `pending`, the oldest infraction first.
///
/// `blocks` are all blocks of the account in the order of their infractions. Afterwards no block is under-funded, or no money is left.
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
