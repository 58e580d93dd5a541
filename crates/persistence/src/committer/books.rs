//! Balances and event counters while a batch is judged: locked in the database, moved in memory, written at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cais_domain::block::{self, Block};
use cais_domain::ids::{AccountId, EntryId, InfractionId, TransferId};
use cais_domain::ledger::{LedgerAccount, Transfer};
use cais_domain::money::{Money, MoneyError};
use cais_ports::{CommitError, Ids};
use jiff::Timestamp;
use uuid::Uuid;

use super::fan_out::Endpoints;
use super::plan::Plan;
use crate::rows::ledger::{Balance, Entry, Side};

/// How far an entry's id may be moved beyond its predecessor's when this node's clock is behind: 32 bits of chance keep two
/// ids that follow the same far-ahead one apart.
const STEP_BITS: u128 = 0xFFFF_FFFF;

/// What the infractions of one account hold, in their order.
pub(crate) type Blocks = BTreeMap<InfractionId, Block>;

/// The locked rows of a batch, and what their locks keep as it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Books {
    /// Every ledger account that the batch may move money between.
    pub(crate) balances: BTreeMap<LedgerAccount, Balance>,
    /// The last sequence number of every account that has events in the batch.
    pub(crate) sequences: BTreeMap<AccountId, i64>,
    /// All blocks of the accounts whose blocks the batch changes, or may change because it credits them and they lack something.
    pub(crate) blocks: BTreeMap<AccountId, Blocks>,
    /// The active and inactive endpoints of every account that has events in the batch.
    pub(crate) endpoints: Endpoints,
}

impl Books {
    /// A ledger account as it stands, and its name as long as the books live.
    ///
    /// # Errors
    /// [`CommitError::Corrupt`] when it was not locked.
    pub(crate) fn balance(&self, account: &LedgerAccount) -> Result<(&LedgerAccount, Balance), CommitError> {
        let found = self.balances.get_key_value(account);
        found.map(|(name, balance)| (name, *balance)).ok_or_else(|| not_locked(account))
    }

    /// Makes a transfer that was judged, and plans what it adds to the ledger: a debit and a credit.
    ///
    /// # Errors
    /// [`CommitError::Corrupt`], which a judged transfer cannot cause.
    pub(crate) fn post<'a>(
        &mut self,
        transfer: Cow<'a, Transfer>,
        at: Timestamp,
        ids: &dyn Ids,
        plan: &mut Plan<'a>,
    ) -> Result<(), CommitError> {
        let from = self.balance_mut(&transfer.from)?;
        let (moved, debited) = debit(*from, &transfer).map_err(|error| out_of_range(&transfer.from, error))?;
        if moved.is_zero() {
            *from = debited;
            plan.unmoved.insert(transfer.from.clone());
            return Ok(());
        }
        let debit = moved.checked_neg().map_err(|error| out_of_range(&transfer.from, error))?;
        let transfer_id = TransferId::new(ids.next_uuid());
        for (side, amount, transfer) in [(Side::From, debit, transfer.clone()), (Side::To, moved, transfer)] {
            let account = side.of(&transfer);
            let balance = self.balance_mut(account)?;
            let after = match side {
                Side::From => debited,
                Side::To => credit(*balance, &transfer, moved).map_err(|error| out_of_range(account, error))?,
            };
            let id = following(after.last, ids.next_uuid());
            *balance = Balance { entries: after.entries.saturating_add(1), last: Some(id), ..after };
            plan.entries.push(Entry { id, transfer_id, side, amount, balance_after: after.amount, transfer, at });
        }
        Ok(())
    }

    fn balance_mut(&mut self, account: &LedgerAccount) -> Result<&mut Balance, CommitError> {
        self.balances.get_mut(account).ok_or_else(|| not_locked(account))
    }

    /// The account's next sequence number.
    ///
    /// # Errors
    /// [`CommitError::Corrupt`] when its counter was not locked.
    pub(crate) fn next_sequence(&mut self, account: AccountId) -> Result<i64, CommitError> {
        let last = self
            .sequences
            .get_mut(&account)
            .ok_or_else(|| CommitError::Corrupt(format!("the counter of {account} was not locked")))?;
        *last = last.saturating_add(1);
        Ok(*last)
    }
}

/// What a transfer takes from a ledger account, and the account after it.
///
/// # Errors
/// [`MoneyError::OutOfRange`].
pub(super) fn debit(before: Balance, transfer: &Transfer) -> Result<(Money, Balance), MoneyError> {
    let (moved, taken) = block::debited(transfer, before.taken)?;
    Ok((moved, Balance { amount: before.amount.checked_sub(moved)?, taken, ..before }))
}

/// The ledger account that a transfer credits after so much of it has moved.
///
/// # Errors
/// [`MoneyError::OutOfRange`].
pub(super) fn credit(before: Balance, transfer: &Transfer, moved: Money) -> Result<Balance, MoneyError> {
    let (amount, taken) = (before.amount.checked_add(moved)?, block::credited(transfer, before.taken)?);
    Ok(Balance { amount, taken, ..before })
}

fn not_locked(account: &LedgerAccount) -> CommitError {
    CommitError::Corrupt(format!("{account} was not locked"))
}

pub(super) fn out_of_range(account: &LedgerAccount, error: impl std::fmt::Display) -> CommitError {
    CommitError::Corrupt(format!("the balance of {account} {error}"))
}

/// The id of the next entry of a ledger account: greater than the last, whatever the clocks of the nodes say.
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
    fn ids_of_entries_ascend_even_when_the_clock_is_behind() {
        let ahead = EntryId::new(Uuid::from_u128(1 << 100));
        let next = following(Some(ahead), Uuid::from_u128(5));
        assert_eq!(next.uuid().as_u128(), (1 << 100) + 6);
        let fresh = Uuid::from_u128(1 << 101);
        assert_eq!(following(Some(ahead), fresh).uuid(), fresh);
        assert_eq!(following(None, fresh).uuid(), fresh);
    }
}
