//! The effects of an accepted change set: everything that is written besides the change set itself.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cais_domain::block::Block;
use cais_domain::ids::{AccountId, EntryId, InfractionId, TransferId};
use cais_domain::ledger::{LedgerAccount, Transfer};
use cais_domain::money::Money;
use cais_ports::{Committed, NewDelivery, NewEvent};
use jiff::Timestamp;

use crate::snapshot::Balance;

/// The derived effects of one accepted change set.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Effects<'a> {
    /// Ledger entries in the order in which the money moves.
    pub entries: Vec<Entry<'a>>,
    /// The new value of every balance that the change set changes. One such change has no entry: if infractions already
    /// seized the whole amount of a release, the release changes only `seized_from_pending` of the `pending` balance.
    pub balances: BTreeMap<LedgerAccount, Balance>,
    /// Every block that the change set creates, changes, tops up or ends.
    pub blocks: BTreeMap<(AccountId, InfractionId), BlockWrite>,
    /// The events, in the order of the change set.
    pub events: Vec<NumberedEvent<'a>>,
    /// The deliveries, one per event and subscribed endpoint.
    pub deliveries: Vec<NewDelivery>,
}

impl Effects<'_> {
    /// Returns the result of the commit for the use case: the sequence numbers of the events.
    #[must_use]
    pub fn committed(&self) -> Committed {
        Committed { sequences: self.events.iter().map(|event| event.sequence).collect() }
    }
}

/// The debit or the credit of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The debit.
    From,
    /// The credit.
    To,
}

impl Side {
    /// Returns the ledger account that `transfer` debits or credits.
    #[must_use]
    pub const fn of(self, transfer: &Transfer) -> &LedgerAccount {
        match self {
            Self::From => &transfer.from,
            Self::To => &transfer.to,
        }
    }
}

/// A leg of a transfer (its debit or its credit), as the ledger stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The id, greater than the ids of all earlier entries of the ledger account.
    pub id: EntryId,
    /// The id of the transfer, equal in both legs.
    pub transfer_id: TransferId,
    /// Debit or credit.
    pub side: Side,
    /// The amount; a debit is negative.
    pub amount: Money,
    /// The balance of the ledger account after the entry.
    pub balance_after: Money,
    /// The transfer: borrowed from the change set, or owned if it moves money into or out of a block.
    pub transfer: Cow<'a, Transfer>,
    /// The instant at which the change set was decided.
    pub at: Timestamp,
}

impl Entry<'_> {
    /// Returns the ledger account that the entry belongs to.
    #[must_use]
    pub fn account(&self) -> &LedgerAccount {
        self.side.of(&self.transfer)
    }
}

/// A block after the change set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockWrite {
    /// `true` if the block existed before the change set, so that the store updates its row instead of inserting one.
    pub stored: bool,
    /// The block; `None` if it ended.
    pub now: Option<Block>,
}

/// An event with its sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedEvent<'a> {
    /// The event; owned if the id of a ledger entry was inserted into its data.
    pub event: Cow<'a, NewEvent>,
    /// The place among the account's events, from 1 without a gap.
    pub sequence: i64,
}
