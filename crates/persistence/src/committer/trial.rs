//! Whether the money of a change set can move: its transfers, what it blocks, and what infractions take of whatever is there then.
//! Nothing is changed here; what the store has to move besides the transfers is told.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cais_domain::block::{self, Block, BlockChange};
use cais_domain::ids::AccountId;
use cais_domain::ledger::{Bucket, LedgerAccount, Overdraft, Transfer};
use cais_domain::money::{Money, MoneyError};
use cais_ports::{ChangeSet, CommitError};

use super::books::{Blocks, Books, credit, debit, out_of_range};
use crate::rows::ledger::Balance;

/// What follows from a change set besides its transfers.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Movements into blocks and out of them, after the transfers.
    pub(super) made: Vec<Transfer>,
    /// All blocks that are known of each account whose blocks changed.
    pub(super) blocks: BTreeMap<AccountId, Blocks>,
}

/// Judges transfers, blocks and sweeps, in this order.
///
/// # Errors
/// [`CommitError::NotCovered`] at the first transfer that lacks its cover; [`CommitError::Stale`] when a block that ends holds something
/// else than was read; [`CommitError::Corrupt`] when one is not a movement of money.
pub(super) fn judge(books: &Books, change: &ChangeSet) -> Result<Moves, CommitError> {
    let mut trial = Trial { books, balances: HashMap::new(), moves: Moves::default() };
    for transfer in &change.transfers {
        trial.make(transfer)?;
    }
    if change.blocks.is_empty() && books.blocks.is_empty() {
        return Ok(trial.moves);
    }
    for change in &change.blocks {
        trial.block(change)?;
    }
    for account in credited_by(change).chain(change.blocks.iter().map(BlockChange::account)).collect::<BTreeSet<_>>() {
        trial.sweep(account)?;
    }
    Ok(trial.moves)
}

/// The accounts that get money of which infractions may take their share; one may come more than once.
pub(super) fn credited_by(change: &ChangeSet) -> impl Iterator<Item = AccountId> {
    change.transfers.iter().filter_map(|transfer| match transfer.to {
        LedgerAccount::Merchant(account, Bucket::Available | Bucket::Pending) => Some(account),
        LedgerAccount::Merchant(_, Bucket::Blocked | Bucket::InTransit) | LedgerAccount::System(..) => None,
    })
}

struct Trial<'b> {
    books: &'b Books,
    balances: HashMap<&'b LedgerAccount, Balance>,
    moves: Moves,
}

impl Trial<'_> {
    fn make(&mut self, transfer: &Transfer) -> Result<(), CommitError> {
        if !transfer.amount.is_positive() {
            return Err(CommitError::Corrupt(format!("a transfer of {}", transfer.amount)));
        }
        let books = self.books;
        let (from, stored) = books.balance(&transfer.from)?;
        let before = self.balances.get(from).copied().unwrap_or(stored);
        let (moved, debited) = debit(before, transfer).map_err(|error| out_of_range(from, error))?;
        if transfer.overdraft != Overdraft::Allowed && !moved.is_zero() && debited.amount.is_negative() {
            return Err(CommitError::NotCovered { account: from.clone(), available: stored.amount });
        }
        self.balances.insert(from, debited);
        let (to, before) = books.balance(&transfer.to)?;
        let before = self.balances.get(to).copied().unwrap_or(before);
        let credited = credit(before, transfer, moved).map_err(|error| out_of_range(to, error))?;
        self.balances.insert(to, credited);
        Ok(())
    }

    /// Makes a movement of a block, whose money is there unless the store is damaged.
    fn make_own(&mut self, transfer: Transfer) -> Result<(), CommitError> {
        self.make(&transfer).map_err(|error| match error {
            CommitError::NotCovered { account, .. } => {
                CommitError::Corrupt(format!("blocks hold more than there is in {account}"))
            }
            error @ (CommitError::Stale
            | CommitError::Taken { .. }
            | CommitError::Claimed { .. }
            | CommitError::Unavailable(_)
            | CommitError::Corrupt(_)) => error,
        })?;
        self.moves.made.push(transfer);
        Ok(())
    }

    fn block(&mut self, change: &BlockChange) -> Result<(), CommitError> {
        let (account, infraction) = (change.account(), change.infraction());
        let taken = self.balance(account, Bucket::Pending)?.taken;
        let blocks = self.blocks_of(account);
        let made = match change {
            BlockChange::Hold { limit, .. } if limit.is_negative() => {
                return Err(CommitError::Corrupt(format!("{infraction} blocks {limit}")));
            }
            BlockChange::Hold { end_to_end_id, limit, .. } => {
                let (end_to_end_id, none) = (end_to_end_id.clone(), Money::ZERO);
                let new = Block { account, infraction, end_to_end_id, limit: none, held: none };
                block::hold(blocks.entry(infraction).or_insert(new), *limit, taken)
            }
            BlockChange::End { held, to, .. } => {
                let ended = blocks.remove(&infraction).filter(|block| block.held == *held);
                block::end(&ended.ok_or(CommitError::Stale)?, to, taken)
            }
        };
        made.map_err(|error| impossible(account, error))?.into_iter().try_for_each(|made| self.make_own(made))
    }

    /// The account's blocks as they stand in this change set.
    fn blocks_of(&mut self, account: AccountId) -> &mut Blocks {
        let known = &self.books.blocks;
        self.moves.blocks.entry(account).or_insert_with(|| known.get(&account).cloned().unwrap_or_default())
    }

    /// What the account's infractions lack is taken of what it has.
    fn sweep(&mut self, account: AccountId) -> Result<(), CommitError> {
        let stored = self.books.blocks.get(&account);
        let Some(blocks) = self.moves.blocks.get(&account).or(stored) else { return Ok(()) };
        if blocks.values().all(|block| block.held >= block.limit) {
            return Ok(());
        }
        let mut blocks: Vec<Block> = blocks.values().cloned().collect();
        let [available, pending] = [Bucket::Available, Bucket::Pending].map(|bucket| self.balance(account, bucket));
        let made = block::top_up_blocks(available?.amount, pending?.amount, &mut blocks);
        let made = made.map_err(|error| impossible(account, error))?;
        if made.is_empty() {
            return Ok(());
        }
        for transfer in made {
            self.make_own(transfer)?;
        }
        *self.blocks_of(account) = blocks.into_iter().map(|block| (block.infraction, block)).collect();
        Ok(())
    }

    fn balance(&self, account: AccountId, bucket: Bucket) -> Result<Balance, CommitError> {
        let (name, stored) = self.books.balance(&LedgerAccount::Merchant(account, bucket))?;
        Ok(self.balances.get(name).copied().unwrap_or(stored))
    }
}

fn impossible(account: AccountId, error: MoneyError) -> CommitError {
    CommitError::Corrupt(format!("a block of {account} {error}"))
}
