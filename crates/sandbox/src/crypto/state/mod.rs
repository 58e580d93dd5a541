//! The processor's state: payments, payout batches, balances and notifications that wait.

pub mod payment;
pub mod payout;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::{
    payment::Payment,
    payout::{Batch, Withdrawal},
};
use super::amount::Amount;

/// The largest number of waiting notifications. Further notifications count as abandoned.
const MAX_OWED: usize = 10_000;

/// A notification to send. The body shows the object as it was after the reported change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ipn {
    /// The URL that the client gave.
    pub url: Arc<str>,
    /// The body, with its keys unsorted.
    pub body: Box<str>,
}

/// The numbers of notifications by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpnTotals {
    /// The number of notifications so far, which is also the number of the next one.
    pub due: u64,
    /// Notifications that were answered 2xx.
    pub delivered: u64,
    /// Notifications that were abandoned after the last attempt, or dropped because too many waited.
    pub abandoned: u64,
}

/// A line of the journal with the new form of every object that a step changed, so that each step is written as a whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CryptoChange {
    /// New and changed payments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub payments: Vec<Payment>,
    /// New and changed payout batches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Batch>,
    /// Amounts that the balances of coins gain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<(Box<str>, Amount)>,
    /// Amounts that the balances of coins lose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub debits: Vec<(Box<str>, Amount)>,
    /// Balances set to a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub balances: Vec<(Box<str>, Amount)>,
    /// New notifications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ipns: Vec<Ipn>,
    /// A notification that was answered 2xx (`true`) or abandoned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ipn: Option<(u64, bool)>,
    /// Snapshots only: waiting notifications with their numbers, and the totals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<(Vec<(u64, Ipn)>, IpnTotals)>,
}

/// An object with a due change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A payment.
    Payment(u64),
    /// A payout batch.
    Batch(u64),
}

/// The whole state of the processor.
#[derive(Debug, Default)]
pub struct CryptoBooks {
    payments: BTreeMap<u64, Payment>,
    batches: BTreeMap<u64, Batch>,
    batch_by_withdrawal: BTreeMap<u64, u64>,
    balances: BTreeMap<Box<str>, Amount>,
    due: BTreeSet<(Timestamp, Due)>,
    owed: BTreeMap<u64, Ipn>,
    totals: IpnTotals,
}

impl CryptoBooks {
    /// Returns all payments in the order of their creation.
    #[must_use]
    pub fn payments(&self) -> &BTreeMap<u64, Payment> {
        &self.payments
    }

    /// Returns all payout batches in the order of their creation.
    #[must_use]
    pub fn batches(&self) -> &BTreeMap<u64, Batch> {
        &self.batches
    }

    /// Returns the batch with this id, or the batch of the withdrawal with this id.
    #[must_use]
    pub fn find_batch(&self, id: u64) -> Option<&Batch> {
        let of_withdrawal = || self.batches.get(self.batch_by_withdrawal.get(&id)?);
        self.batches.get(&id).or_else(of_withdrawal)
    }

    /// Returns the balances by coin.
    #[must_use]
    pub fn balances(&self) -> &BTreeMap<Box<str>, Amount> {
        &self.balances
    }

    /// Returns the balance of a coin; zero if absent.
    #[must_use]
    pub fn balance(&self, coin: &str) -> Amount {
        self.balances.get(coin).cloned().unwrap_or_default()
    }

    /// Returns the number of ids in use. Every payment, purchase, batch and withdrawal has one.
    #[must_use]
    pub fn ids_in_use(&self) -> u64 {
        let payments = self.payments.len().saturating_mul(2);
        let count = payments.saturating_add(self.batches.len()).saturating_add(self.batch_by_withdrawal.len());
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Returns the object that changes next, and its instant.
    #[must_use]
    pub fn next_due(&self) -> Option<(Timestamp, Due)> {
        self.due.first().copied()
    }

    /// Returns the waiting notifications by number.
    #[must_use]
    pub fn owed_ipns(&self) -> &BTreeMap<u64, Ipn> {
        &self.owed
    }

    /// Returns the notifications' totals.
    #[must_use]
    pub fn ipn_totals(&self) -> IpnTotals {
        self.totals
    }

    /// Returns changes that rebuild this state.
    pub fn snapshot(&self) -> impl Iterator<Item = CryptoChange> {
        let payments = self.payments.values().cloned();
        let payments = payments.map(|payment| CryptoChange { payments: vec![payment], ..CryptoChange::default() });
        let batches = self.batches.values().cloned();
        let batches = batches.map(|batch| CryptoChange { batches: vec![batch], ..CryptoChange::default() });
        let rest = CryptoChange {
            balances: self.balances.iter().map(|(coin, balance)| (coin.clone(), balance.clone())).collect(),
            waiting: Some((self.owed.iter().map(|(number, ipn)| (*number, ipn.clone())).collect(), self.totals)),
            ..CryptoChange::default()
        };
        payments.chain(batches).chain(std::iter::once(rest))
    }

    /// Applies a change.
    pub fn apply(&mut self, change: CryptoChange) {
        for payment in change.payments {
            self.put_payment(payment);
        }
        for batch in change.batches {
            self.put_batch(batch);
        }
        for (coin, amount) in change.credits {
            let balance = &self.balance(&coin) + &amount;
            self.balances.insert(coin, balance);
        }
        for (coin, amount) in change.debits {
            let balance = &self.balance(&coin) - &amount;
            self.balances.insert(coin, balance);
        }
        self.balances.extend(change.balances);
        for ipn in change.ipns {
            self.owe(ipn);
        }
        if let Some((number, delivered)) = change.ended_ipn
            && self.owed.remove(&number).is_some()
        {
            let total = if delivered { &mut self.totals.delivered } else { &mut self.totals.abandoned };
            *total += 1;
        }
        if let Some((owed, totals)) = change.waiting {
            self.owed = owed.into_iter().collect();
            self.totals = totals;
        }
    }

    fn put_payment(&mut self, payment: Payment) {
        let id = payment.id;
        if let Some(due) = self.payments.get(&id).and_then(Payment::due_at) {
            self.due.remove(&(due, Due::Payment(id)));
        }
        if let Some(due) = payment.due_at() {
            self.due.insert((due, Due::Payment(id)));
        }
        self.payments.insert(id, payment);
    }

    fn put_batch(&mut self, batch: Batch) {
        let id = batch.id;
        if let Some(due) = self.batches.get(&id).and_then(Batch::due_at) {
            self.due.remove(&(due, Due::Batch(id)));
        }
        if let Some(due) = batch.due_at() {
            self.due.insert((due, Due::Batch(id)));
        }
        self.batch_by_withdrawal.extend(batch.withdrawals.iter().map(|withdrawal: &Withdrawal| (withdrawal.id, id)));
        self.batches.insert(id, batch);
    }

    fn owe(&mut self, ipn: Ipn) {
        if self.owed.len() < MAX_OWED {
            self.owed.insert(self.totals.due, ipn);
        } else {
            self.totals.abandoned += 1;
        }
        self.totals.due += 1;
    }
}
