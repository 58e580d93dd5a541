//! The money of a change set. Transfers are posted first, then changes of blocks, then top-ups of under-funded blocks.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use cais_domain::block::{self, Block, BlockChange};
use cais_domain::ids::{AccountId, EntryId, TransferId};
use cais_domain::ledger::{Bucket, LedgerAccount, Overdraft, Transfer};
use cais_domain::money::{Money, MoneyError};
use cais_ports::{ChangeSet, CommitError, IdGenerator};
use jiff::Timestamp;
use uuid::Uuid;

use crate::effects::{BlockWrite, Effects, Entry, Side};
use crate::needs::credited_by;
use crate::snapshot::{Balance, Blocks, LedgerSnapshot};

/// The mask of the random bits of a new id. If this node's clock is behind, the new id is not greater than the last
/// entry's id. The next id is then the last id plus a step from these bits. The step is random, so that two nodes that
/// continue from the same id create different ids.
const STEP_BITS: u128 = 0xFFFF_FFFF;

/// The entries of one change set, and the balances and blocks that change.
pub(crate) struct Postings<'s, 'a> {
    ledger: &'s LedgerSnapshot,
    ids: &'s dyn IdGenerator,
    at: Timestamp,
    entries: Vec<Entry<'a>>,
    balances: BTreeMap<LedgerAccount, Balance>,
    /// All blocks of each account whose blocks were touched.
    blocks: BTreeMap<AccountId, Blocks>,
}

impl<'s, 'a> Postings<'s, 'a> {
    /// Computes the entries and balances after a change set. The snapshot itself does not change.
    ///
    /// # Errors
    /// [`CommitError::NotCovered`] at the first transfer that overdraws its account. [`CommitError::Stale`] if an
    /// ending block holds another amount than the change set expects. [`CommitError::Corrupt`] if an amount is not
    /// positive or leaves the range of money, or if the snapshot lacks the balance of an account.
    pub(crate) fn simulate(
        ledger: &'s LedgerSnapshot,
        change: &'a ChangeSet,
        ids: &'s dyn IdGenerator,
    ) -> Result<Effects<'a>, CommitError> {
        let (entries, balances, blocks) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let mut postings = Self { ledger, ids, at: change.at, entries, balances, blocks };
        for transfer in &change.transfers {
            postings.post(Cow::Borrowed(transfer))?;
        }
        if !change.blocks.is_empty() || !ledger.blocks.is_empty() {
            for block in &change.blocks {
                postings.change_block(block)?;
            }
            let touched = credited_by(change).chain(change.blocks.iter().map(BlockChange::account));
            for account in touched.collect::<BTreeSet<_>>() {
                postings.top_up_blocks(account)?;
            }
        }
        Ok(postings.into_effects())
    }

    /// Posts the debit and the credit of a transfer. If infractions already seized the whole amount of a release, no
    /// money moves: only `seized_from_pending` changes, and no entry is posted.
    fn post(&mut self, transfer: Cow<'a, Transfer>) -> Result<(), CommitError> {
        if !transfer.amount.is_positive() {
            return Err(CommitError::Corrupt(format!("the amount {} of a transfer is not positive", transfer.amount)));
        }
        let (from, before) = (&transfer.from, self.balance(&transfer.from)?);
        let out_of_range = |error| out_of_range(from, error);
        let (moved, seized_from_pending) =
            block::debited(&transfer, before.seized_from_pending).map_err(out_of_range)?;
        let debit = moved.checked_neg().map_err(out_of_range)?;
        let amount = before.amount.checked_add(debit).map_err(out_of_range)?;
        let debited = Balance { amount, seized_from_pending, ..before };
        if moved.is_zero() {
            self.set_balance(from, debited);
            return Ok(());
        }
        if transfer.overdraft == Overdraft::Forbidden && amount.is_negative() {
            let available = stored(self.ledger, from)?.amount;
            return Err(CommitError::NotCovered { account: from.clone(), available });
        }
        let transfer_id = TransferId::new(self.ids.next_uuid());
        self.enter(transfer.clone(), (transfer_id, Side::From), debit, debited);
        let (to, before) = (&transfer.to, self.balance(&transfer.to)?);
        let out_of_range = |error| self::out_of_range(to, error);
        let amount = before.amount.checked_add(moved).map_err(out_of_range)?;
        let seized_from_pending = block::credited(&transfer, before.seized_from_pending).map_err(out_of_range)?;
        let credited = Balance { amount, seized_from_pending, ..before };
        self.enter(transfer, (transfer_id, Side::To), moved, credited);
        Ok(())
    }

    /// Adds one entry. `after` is the balance after the entry, except that the number of entries and the last id are
    /// updated here.
    fn enter(
        &mut self,
        transfer: Cow<'a, Transfer>,
        (transfer_id, side): (TransferId, Side),
        amount: Money,
        after: Balance,
    ) {
        let id = following(after.last, self.ids.next_uuid());
        let after = Balance { entries: after.entries.saturating_add(1), last: Some(id), ..after };
        self.set_balance(side.of(&transfer), after);
        let (balance_after, at) = (after.amount, self.at);
        self.entries.push(Entry { id, transfer_id, side, amount, balance_after, transfer, at });
    }

    /// Posts a transfer into or out of a block. If the debited balance does not cover the transfer, the stored data is
    /// damaged.
    fn post_of_block(&mut self, transfer: Transfer) -> Result<(), CommitError> {
        self.post(Cow::Owned(transfer)).map_err(|error| match error {
            CommitError::NotCovered { account, .. } => {
                CommitError::Corrupt(format!("blocks hold more than the balance of {account}"))
            }
            error @ (CommitError::Stale
            | CommitError::Taken { .. }
            | CommitError::KeyInUse { .. }
            | CommitError::Exists(_)
            | CommitError::Unavailable(_)
            | CommitError::Corrupt(_)) => error,
        })
    }

    fn change_block(&mut self, change: &BlockChange) -> Result<(), CommitError> {
        let (account, infraction) = (change.account(), change.infraction());
        let seized = self.balance(&LedgerAccount::Merchant(account, Bucket::Pending))?.seized_from_pending;
        let blocks = self.blocks_mut(account);
        let transfers = match change {
            BlockChange::Hold { limit, .. } if limit.is_negative() => {
                return Err(CommitError::Corrupt(format!("the limit {limit} of {infraction} is negative")));
            }
            BlockChange::Hold { end_to_end_id, limit, .. } => {
                let (end_to_end_id, none) = (end_to_end_id.clone(), Money::ZERO);
                let new = Block { account, infraction, end_to_end_id, limit: none, held: none };
                block::hold(blocks.entry(infraction).or_insert(new), *limit, seized)
            }
            BlockChange::End { held, to, .. } => {
                let ended = blocks.remove(&infraction).filter(|block| block.held == *held);
                block::end(&ended.ok_or(CommitError::Stale)?, to, seized)
            }
        };
        let transfers = transfers.map_err(|error| impossible(account, error))?;
        transfers.into_iter().try_for_each(|transfer| self.post_of_block(transfer))
    }

    /// Moves money into the under-funded blocks of the account.
    fn top_up_blocks(&mut self, account: AccountId) -> Result<(), CommitError> {
        let Some(blocks) = self.blocks.get(&account).or_else(|| self.ledger.blocks.get(&account)) else {
            return Ok(());
        };
        if blocks.values().all(|block| block.held >= block.limit) {
            return Ok(());
        }
        let mut blocks: Vec<Block> = blocks.values().cloned().collect();
        let [available, pending] = [Bucket::Available, Bucket::Pending]
            .map(|bucket| self.balance(&LedgerAccount::Merchant(account, bucket)).map(|balance| balance.amount));
        let transfers =
            block::top_up_blocks(available?, pending?, &mut blocks).map_err(|error| impossible(account, error))?;
        if transfers.is_empty() {
            return Ok(());
        }
        *self.blocks_mut(account) = blocks.into_iter().map(|block| (block.infraction, block)).collect();
        transfers.into_iter().try_for_each(|transfer| self.post_of_block(transfer))
    }

    fn blocks_mut(&mut self, account: AccountId) -> &mut Blocks {
        let stored = &self.ledger.blocks;
        self.blocks.entry(account).or_insert_with(|| stored.get(&account).cloned().unwrap_or_default())
    }

    fn balance(&self, account: &LedgerAccount) -> Result<Balance, CommitError> {
        self.balances.get(account).copied().map_or_else(|| stored(self.ledger, account), Ok)
    }

    fn set_balance(&mut self, account: &LedgerAccount, after: Balance) {
        match self.balances.get_mut(account) {
            Some(balance) => *balance = after,
            None => drop(self.balances.insert(account.clone(), after)),
        }
    }

    fn into_effects(self) -> Effects<'a> {
        let mut writes = BTreeMap::new();
        let none = Blocks::new();
        for (account, after) in self.blocks {
            let before = self.ledger.blocks.get(&account).unwrap_or(&none);
            for infraction in before.keys().chain(after.keys()) {
                let (was, is) = (before.get(infraction), after.get(infraction));
                if was != is {
                    writes.insert((account, *infraction), BlockWrite { stored: was.is_some(), now: is.cloned() });
                }
            }
        }
        Effects { entries: self.entries, balances: self.balances, blocks: writes, ..Effects::default() }
    }
}

fn stored(ledger: &LedgerSnapshot, account: &LedgerAccount) -> Result<Balance, CommitError> {
    let found = ledger.balances.get(account).copied();
    found.ok_or_else(|| CommitError::Corrupt(format!("the balance of {account} is missing")))
}

fn out_of_range(account: &LedgerAccount, error: MoneyError) -> CommitError {
    CommitError::Corrupt(format!("the balance of {account} {error}"))
}

fn impossible(account: AccountId, error: MoneyError) -> CommitError {
    CommitError::Corrupt(format!("a block of {account} {error}"))
}

/// Returns the id of the next entry of a ledger account: `fresh`, or an id after `last` if this node's clock is behind.
fn following(last: Option<EntryId>, fresh: Uuid) -> EntryId {
    match last {
        Some(last) if last.uuid() >= fresh => {
            let step = (fresh.as_u128() & STEP_BITS).saturating_add(1);
            EntryId::new(Uuid::from_u128(last.uuid().as_u128().saturating_add(step)))
        }
        Some(_) | None => EntryId::new(fresh),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_ids_ascend_when_the_clock_is_behind() {
        let ahead = EntryId::new(Uuid::from_u128(1 << 100));
        let next = following(Some(ahead), Uuid::from_u128(5));
        assert_eq!(next.uuid().as_u128(), (1 << 100) + 6);
        let fresh = Uuid::from_u128(1 << 101);
        assert_eq!(following(Some(ahead), fresh).uuid(), fresh);
        assert_eq!(following(None, fresh).uuid(), fresh);
    }
}
