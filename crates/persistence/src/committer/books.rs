//! Balances and event counters while a batch is judged: locked in the database, moved in memory, written at the end.

use std::collections::{BTreeMap, HashMap};

use cais_domain::ids::{AccountId, EntryId, TransferId};
use cais_domain::ledger::{Cover, LedgerAccount, Transfer};
use cais_domain::money::Money;
use cais_ports::{CommitError, Ids};
use jiff::Timestamp;
use uuid::Uuid;

use crate::rows::ledger::{Balance, Entry};

/// How far an entry's id may be moved beyond its predecessor's when this node's clock is behind: 32 bits of chance keep two
/// ids that follow the same far-ahead one apart.
const STEP_BITS: u128 = 0xFFFF_FFFF;

/// The locked rows of a batch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Books {
    /// Every ledger account that a transfer of the batch touches.
    pub(crate) balances: BTreeMap<LedgerAccount, Balance>,
    /// The last sequence number of every account that has events in the batch.
    pub(crate) sequences: BTreeMap<AccountId, i64>,
}

impl Books {
    /// Whether the transfers can be made in this order, judged without making them.
    ///
    /// # Errors
    /// [`CommitError::NotCovered`] at the first that lacks its cover; [`CommitError::Corrupt`] when one is not a movement of money.
    pub(crate) fn judge(&self, transfers: &[Transfer]) -> Result<(), CommitError> {
        let mut moved: HashMap<&LedgerAccount, Money> = HashMap::new();
        for transfer in transfers {
            if !transfer.amount.is_positive() {
                return Err(CommitError::Corrupt(format!("a transfer of {}", transfer.amount)));
            }
            let from = self.standing(&moved, &transfer.from)?;
            let debited = from.checked_sub(transfer.amount).map_err(|error| out_of_range(&transfer.from, error))?;
            if transfer.cover == Cover::Required && debited.is_negative() {
                return Err(CommitError::NotCovered { account: transfer.from.clone() });
            }
            moved.insert(&transfer.from, debited);
            let to = self.standing(&moved, &transfer.to)?;
            let credited = to.checked_add(transfer.amount).map_err(|error| out_of_range(&transfer.to, error))?;
            moved.insert(&transfer.to, credited);
        }
        Ok(())
    }

    fn standing(&self, moved: &HashMap<&LedgerAccount, Money>, account: &LedgerAccount) -> Result<Money, CommitError> {
        moved
            .get(account)
            .copied()
            .or_else(|| self.balances.get(account).map(|balance| balance.amount))
            .ok_or_else(|| CommitError::Corrupt(format!("{account} was not locked")))
    }

    /// Makes transfers that were judged; what they add to the ledger, a debit and a credit each.
    ///
    /// # Errors
    /// [`CommitError::Corrupt`], which a judged transfer cannot cause.
    pub(crate) fn post<'a>(
        &mut self,
        transfers: &'a [Transfer],
        at: Timestamp,
        ids: &dyn Ids,
    ) -> Result<Vec<Entry<'a>>, CommitError> {
        let mut entries = Vec::with_capacity(transfers.len().saturating_mul(2));
        for transfer in transfers {
            let transfer_id = TransferId::new(ids.next_uuid());
            let debit = transfer.amount.checked_neg().map_err(|error| out_of_range(&transfer.from, error))?;
            for (account, amount) in [(&transfer.from, debit), (&transfer.to, transfer.amount)] {
                let balance = self
                    .balances
                    .get_mut(account)
                    .ok_or_else(|| CommitError::Corrupt(format!("{account} was not locked")))?;
                let id = following(balance.last, ids.next_uuid());
                balance.amount = balance.amount.checked_add(amount).map_err(|error| out_of_range(account, error))?;
                balance.entries = balance.entries.saturating_add(1);
                balance.last = Some(id);
                entries.push(Entry { id, transfer_id, account, amount, balance_after: balance.amount, transfer, at });
            }
        }
        Ok(entries)
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

fn out_of_range(account: &LedgerAccount, error: impl std::fmt::Display) -> CommitError {
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
