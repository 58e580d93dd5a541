//! The processor's stored state: payments, payout batches, balances and waiting notifications.

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

/// A notification to send. The body shows the payment or withdrawal as it was after the reported change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ipn {
    /// The client's `ipn_callback_url`.
    pub url: Arc<str>,
    /// The body, in JSON. Its keys are unsorted, although the signature covers them in sorted order.
    pub body: Box<str>,
}

/// The numbers of notifications by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpnTotals {
    /// The count of notifications so far. The next notification has this count as its number.
    #[serde(rename = "due")]
    pub created: u64,
    /// Notifications that were answered 2xx.
    pub delivered: u64,
    /// Notifications that were abandoned after the last attempt, or dropped because too many waited.
    pub abandoned: u64,
}

/// All changes of one step. They are one line of the journal, so that a step is written whole or not at all. A changed payment or batch is
/// written with all its fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CryptoChange {
    /// New and changed payments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub payments: Vec<Payment>,
    /// New and changed payout batches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Batch>,
    /// Amounts to add to balances, by the code of the coin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<(Box<str>, Amount)>,
    /// Amounts to subtract from balances, by the code of the coin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub debits: Vec<(Box<str>, Amount)>,
    /// Balances that replace the current ones, by the code of the coin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub balances: Vec<(Box<str>, Amount)>,
    /// New notifications.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ipns: Vec<Ipn>,
    /// The number of a notification that ended. `true`: it was answered 2xx; `false`: it was abandoned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ipn: Option<(u64, bool)>,
    /// Snapshots only: waiting notifications with their numbers, and the totals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<(Vec<(u64, Ipn)>, IpnTotals)>,
}

/// An object whose status the clock will change, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A payment.
    Payment(u64),
    /// A payout batch.
    Batch(u64),
}

/// The whole stored state of the processor.
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
    /// Returns all payments by id, in the order of their creation.
    #[must_use]
    pub fn payments(&self) -> &BTreeMap<u64, Payment> {
        &self.payments
    }

    /// Returns all payout batches by id, in the order of their creation.
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

    /// Returns the balances by the code of the coin.
    #[must_use]
    pub fn balances(&self) -> &BTreeMap<Box<str>, Amount> {
        &self.balances
    }

    /// Returns the balance of the coin with the code `coin`; zero if the coin has none.
    #[must_use]
    pub fn balance(&self, coin: &str) -> Amount {
        self.balances.get(coin).cloned().unwrap_or_default()
    }

    /// Returns the number of ids given out: two for each payment (its own and that of its purchase), and one for each batch and withdrawal.
    #[must_use]
    pub fn ids_in_use(&self) -> u64 {
        let payments = self.payments.len().saturating_mul(2);
        let count = payments.saturating_add(self.batches.len()).saturating_add(self.batch_by_withdrawal.len());
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Returns the object whose status the clock changes next, and the instant of that change.
    #[must_use]
    pub fn next_due(&self) -> Option<(Timestamp, Due)> {
        self.due.first().copied()
    }

    /// Returns the waiting notifications by number.
    #[must_use]
    pub fn owed_ipns(&self) -> &BTreeMap<u64, Ipn> {
        &self.owed
    }

    /// Returns the numbers of notifications by outcome.
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
            self.add_ipn(ipn);
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

    fn add_ipn(&mut self, ipn: Ipn) {
        if self.owed.len() < MAX_OWED {
            self.owed.insert(self.totals.created, ipn);
        } else {
            self.totals.abandoned += 1;
        }
        self.totals.created += 1;
    }
}
