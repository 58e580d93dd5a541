//! What money a change set moves, judged step by step without changing anything: transfers, then blocks, then what blocks still miss.

use std::collections::{BTreeMap, BTreeSet};

use cais_domain::block::{self, Block, BlockChange};
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::ledger::{Bucket, LedgerAccount, Overdraft, Transfer};
use cais_domain::money::{Money, MoneyError};
use cais_ports::{ChangeSet, CommitError};
use jiff::Timestamp;

use super::judge::corrupt;
use super::state::{Entry, State, next_id};

/// Names a block.
pub(super) type BlockKey = (AccountId, InfractionId);

/// Everything that the money of a change set makes true.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// In order, with their running balances.
    pub(super) entries: Vec<Entry>,
    /// What is taken of `pending` before its release, where that changes.
    pub(super) taken: BTreeMap<AccountId, Money>,
    /// Blocks that change; `None` where one ends.
    pub(super) blocks: BTreeMap<BlockKey, Option<Block>>,
}

pub(super) fn judge(state: &State, change: &ChangeSet) -> Result<Moved, CommitError> {
    let (moved, balances, touched) = (Moved::default(), BTreeMap::new(), BTreeSet::new());
    let mut books = Books { state, at: change.at, moved, balances, touched };
    for transfer in &change.transfers {
        books.post(transfer)?;
    }
    for block in &change.blocks {
        books.change_block(block)?;
    }
    for account in std::mem::take(&mut books.touched) {
        books.sweep(account)?;
    }
    Ok(books.moved)
}

/// The books as they would be.
struct Books<'a> {
    state: &'a State,
    at: Timestamp,
    moved: Moved,
    balances: BTreeMap<LedgerAccount, Money>,
    /// Accounts with more money in `available` or `pending`, or with another block, than before.
    touched: BTreeSet<AccountId>,
}

impl Books<'_> {
    fn balance(&self, account: &LedgerAccount) -> Money {
        self.balances.get(account).copied().unwrap_or_else(|| self.state.balance(account))
    }

    fn taken(&self, account: AccountId) -> Money {
        self.moved.taken.get(&account).copied().unwrap_or_else(|| self.state.taken(account))
    }

    fn block(&self, key: BlockKey) -> Option<Block> {
        let changed = self.moved.blocks.get(&key).cloned();
        changed.unwrap_or_else(|| self.state.blocks.get(&key).cloned())
    }

    /// Moves the money of one transfer; nothing when all of it was taken before.
    fn post(&mut self, transfer: &Transfer) -> Result<(), CommitError> {
        if !transfer.amount.is_positive() {
            return Err(corrupt("a transfer of nothing"));
        }
        let amount = self.mark(transfer).map_err(|error| corrupt(&error))?;
        let must_cover = transfer.overdraft != Overdraft::Allowed;
        if amount.is_zero() {
            return Ok(());
        }
        let debit = amount.checked_neg().map_err(|error| corrupt(&error))?;
        for (account, amount) in [(&transfer.from, debit), (&transfer.to, amount)] {
            let after = self.balance(account).checked_add(amount).map_err(|error| corrupt(&error))?;
            if must_cover && amount.is_negative() && after.is_negative() {
                let available = self.state.balance(account);
                return Err(CommitError::NotCovered { account: account.clone(), available });
            }
            self.balances.insert(account.clone(), after);
            self.moved.entries.push(self.entry(transfer, account, amount, after));
        }
        if let LedgerAccount::Merchant(account, Bucket::Available | Bucket::Pending) = &transfer.to {
            self.touched.insert(*account);
        }
        Ok(())
    }

    /// How much of a transfer moves, and what is taken of the `pending` of its accounts from then on.
    fn mark(&mut self, transfer: &Transfer) -> Result<Money, MoneyError> {
        let mut moved = transfer.amount;
        if let LedgerAccount::Merchant(account, Bucket::Pending) = transfer.from {
            let (amount, taken) = block::debited(transfer, self.taken(account))?;
            self.moved.taken.insert(account, taken);
            moved = amount;
        }
        if let LedgerAccount::Merchant(account, Bucket::Pending) = transfer.to {
            let taken = block::credited(transfer, self.taken(account))?;
            self.moved.taken.insert(account, taken);
        }
        Ok(moved)
    }

    fn change_block(&mut self, change: &BlockChange) -> Result<(), CommitError> {
        let key = (change.account(), change.infraction());
        let (known, taken) = (self.block(key), self.taken(change.account()));
        let (transfers, after) = match change {
            BlockChange::Hold { account, infraction, end_to_end_id, limit } => {
                if limit.is_negative() {
                    return Err(corrupt("a block of less than nothing"));
                }
                let (account, infraction, end_to_end_id) = (*account, *infraction, end_to_end_id.clone());
                let new = Block { account, infraction, end_to_end_id, limit: *limit, held: Money::ZERO };
                let mut block = known.unwrap_or(new);
                (block::hold(&mut block, *limit, taken), Some(block))
            }
            BlockChange::End { held, to, .. } => {
                let block = known.filter(|block| block.held == *held).ok_or(CommitError::Stale)?;
                (block::end(&block, to, taken), None)
            }
        };
        for transfer in transfers.map_err(|error| corrupt(&error))? {
            self.post(&transfer)?;
        }
        self.moved.blocks.insert(key, after);
        self.touched.insert(change.account());
        Ok(())
    }

    /// Takes what the account's blocks still miss from what it has now.
    fn sweep(&mut self, account: AccountId) -> Result<(), CommitError> {
        let before = self.blocks_of(account);
        let mut blocks = before.clone();
        let pending = LedgerAccount::Merchant(account, Bucket::Pending);
        let available = self.balance(&LedgerAccount::Merchant(account, Bucket::Available));
        let swept =
            block::top_up_blocks(available, self.balance(&pending), &mut blocks).map_err(|error| corrupt(&error))?;
        for transfer in swept {
            self.post(&transfer)?;
        }
        let changed = blocks.into_iter().zip(before).filter(|(after, before)| after != before);
        self.moved.blocks.extend(changed.map(|(block, _)| ((account, block.infraction), Some(block))));
        Ok(())
    }

    /// Blocks of the account in the order of their infractions, as they would be.
    fn blocks_of(&self, account: AccountId) -> Vec<Block> {
        let stored = self.state.blocks.keys().chain(self.moved.blocks.keys());
        let keys: BTreeSet<BlockKey> = stored.filter(|(holder, _)| *holder == account).copied().collect();
        keys.into_iter().filter_map(|key| self.block(key)).collect()
    }

    fn entry(&self, transfer: &Transfer, account: &LedgerAccount, amount: Money, balance_after: Money) -> Entry {
        Entry {
            id: next_id(),
            account: account.clone(),
            amount,
            balance_after,
            kind: transfer.kind,
            resource: transfer.resource.clone(),
            end_to_end_id: transfer.end_to_end_id.clone(),
            at: self.at,
        }
    }
}
