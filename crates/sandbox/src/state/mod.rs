//! The books: the whole state of the simulator in memory. They contain charges, received and sent Pix, returns, infractions,
//! the balance, webhooks and waiting callbacks, and the books of the crypto processor and of Woovi's API.

pub mod change;
pub mod cob;
pub mod funds;
pub mod infraction;
pub mod infractions;
pub mod payment;
pub mod sends;
pub mod sent;
mod steps;
mod woovi;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;

use self::{
    change::{Change, Notification, NotificationTotals, Webhook},
    cob::{Cob, LocationToken},
    funds::Funds,
    infractions::Infractions,
    payment::Payment,
    sends::Sends,
    sent::SendOutcome,
};
use crate::{
    crypto::state::CryptoBooks,
    woovi::state::{
        WooviBooks,
        delivery::{Event, Subject},
    },
};

/// The largest number of waiting callbacks. Further callbacks are not sent, and count as abandoned.
pub const MAX_OWED_NOTIFICATIONS: usize = 10_000;

/// A contradiction between a change and the state. For example, the change refers to a missing object, or creates an existing one.
#[derive(Debug, thiserror::Error)]
#[error("a change contradicts the state: {0}")]
pub struct Inconsistent(pub(crate) &'static str);

/// The whole state. Only [`Books::apply`] changes the state, so that a replay of the journal results in the same state.
///
/// The position of an object is its index in the list of all objects of its kind, in order of creation.
#[derive(Debug, Default)]
pub struct Books {
    cobs: Vec<Cob>,
    cob_by_txid: HashMap<Arc<str>, usize>,
    cob_by_location: HashMap<LocationToken, usize>,
    cobs_by_creation: BTreeSet<(Timestamp, usize)>,
    payments: Vec<Payment>,
    payment_by_e2e: HashMap<Arc<str>, usize>,
    payments_by_time: BTreeSet<(Timestamp, usize)>,
    refunds_in_process: BTreeSet<(Timestamp, usize, Box<str>)>,
    sends: Sends,
    infractions: Infractions,
    funds: Funds,
    webhooks: BTreeMap<Box<str>, Webhook>,
    owed: BTreeMap<u64, Notification>,
    totals: NotificationTotals,
    refund_by_id: HashMap<Box<str>, usize>,
    crypto: CryptoBooks,
    woovi: WooviBooks,
}

impl Books {
    /// Returns the charge with this txid, and its position.
    #[must_use]
    pub fn find_cob(&self, txid: &str) -> Option<(usize, &Cob)> {
        let position = *self.cob_by_txid.get(txid)?;
        Some((position, self.cobs.get(position)?))
    }

    /// Returns the charge with this location token, and its position.
    #[must_use]
    pub fn find_cob_at(&self, location: LocationToken) -> Option<(usize, &Cob)> {
        let position = *self.cob_by_location.get(&location)?;
        Some((position, self.cobs.get(position)?))
    }

    /// Returns the charges created in the inclusive period, oldest first, each with its position.
    pub fn cobs_between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = (usize, &Cob)> {
        between(&self.cobs_by_creation, from, to)
            .filter_map(|position| self.cobs.get(position).map(|cob| (position, cob)))
    }

    /// Returns the number of charges, which is also the position of the next charge.
    #[must_use]
    pub fn cob_count(&self) -> usize {
        self.cobs.len()
    }

    /// Returns the received Pix with this end-to-end id.
    #[must_use]
    pub fn find_payment(&self, end_to_end_id: &str) -> Option<&Payment> {
        self.payments.get(*self.payment_by_e2e.get(end_to_end_id)?)
    }

    /// Returns the Pix received in the inclusive period, oldest first.
    pub fn payments_between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = &Payment> {
        between(&self.payments_by_time, from, to).filter_map(|position| self.payments.get(position))
    }

    /// Returns the Pix of this charge, in order of arrival.
    pub fn payments_of<'a>(&'a self, cob: &'a Cob) -> impl Iterator<Item = &'a Payment> {
        cob.payments.iter().filter_map(|position| self.payments.get(*position))
    }

    /// Returns all received Pix, in order of arrival.
    #[must_use]
    pub fn payments(&self) -> &[Payment] {
        &self.payments
    }

    /// Returns the received Pix that has a return with this id. The id is unique only within a Pix. If several Pix match, returns one of
    /// them.
    #[must_use]
    pub fn find_refunded(&self, refund_id: &str) -> Option<&Payment> {
        self.payments.get(*self.refund_by_id.get(refund_id)?)
    }

    /// Returns the instant at which the next return of a received Pix becomes final.
    #[must_use]
    pub fn next_refund_due(&self) -> Option<Timestamp> {
        self.refunds_in_process.first().map(|(due, _, _)| *due)
    }

    /// Finds the first return of a received Pix that is due by `now` and not final. Returns its Pix, its id and its due instant.
    #[must_use]
    pub fn find_due_refund(&self, now: Timestamp) -> Option<(&Payment, &str, Timestamp)> {
        let (due, position, id) = self.refunds_in_process.first()?;
        (*due <= now).then_some(())?;
        Some((self.payments.get(*position)?, id, *due))
    }

    /// Returns the sent Pix.
    #[must_use]
    pub fn sends(&self) -> &Sends {
        &self.sends
    }

    /// Returns the infractions.
    #[must_use]
    pub fn infractions(&self) -> &Infractions {
        &self.infractions
    }

    /// Returns the account's money.
    #[must_use]
    pub fn funds(&self) -> Funds {
        self.funds
    }

    /// Returns the webhook of a Pix key.
    #[must_use]
    pub fn find_webhook(&self, key: &str) -> Option<&Webhook> {
        self.webhooks.get(key)
    }

    /// Returns all webhooks, by key.
    #[must_use]
    pub fn webhooks(&self) -> &BTreeMap<Box<str>, Webhook> {
        &self.webhooks
    }

    /// Returns the waiting callbacks, by number.
    #[must_use]
    pub fn owed_notifications(&self) -> &BTreeMap<u64, Notification> {
        &self.owed
    }

    /// Returns the callbacks' totals.
    #[must_use]
    pub fn notification_totals(&self) -> NotificationTotals {
        self.totals
    }

    /// Returns the books of the crypto processor.
    #[must_use]
    pub fn crypto(&self) -> &CryptoBooks {
        &self.crypto
    }

    /// Returns the shortest list of changes that results in this state.
    #[must_use]
    pub fn snapshot(&self) -> Vec<Change> {
        let cobs = self.cobs.iter().cloned().map(Change::CobCreated);
        // `CobCreated` already has the charge's present status. `Paid` repeats this status, so it does not change the charge.
        let payments = self.payments.iter().filter_map(|payment| {
            let (_, cob) = self.find_cob(&payment.txid)?;
            Some(Change::Paid { payment: payment.clone(), status: cob.terms.status, notify: None })
        });
        let sends = self.sends.all().iter().cloned().map(Change::SendAccepted);
        // `InfractionOpened` has the present status, and `Paid` already has the returns of lost infractions. So no steps are needed.
        let infractions = self.infractions.all().iter().cloned();
        let infractions = infractions.map(|infraction| Change::InfractionOpened { infraction, notify: None });
        let webhooks = self
            .webhooks
            .iter()
            .map(|(key, webhook)| Change::WebhookSet { key: key.clone(), webhook: webhook.clone() });
        let owed = self.owed.iter().map(|(number, notification)| Change::NotificationOwed {
            number: *number,
            notification: notification.clone(),
        });
        let totals = std::iter::once(Change::NotificationTotals(self.totals));
        // The balance comes after all changes that move it.
        let balance = self.funds.is_open().then(|| Change::BalanceSet { balance: self.funds.balance() });
        let movements = cobs.chain(payments).chain(sends).chain(infractions);
        let crypto = self.crypto.snapshot().map(|change| Change::Crypto(Box::new(change)));
        // Woovi's changes come last. A replay applies the other changes while Woovi has no webhooks yet, so these publish no events.
        let woovi = self.woovi.snapshot().map(|change| Change::Woovi(Box::new(change)));
        movements.chain(webhooks).chain(owed).chain(totals).chain(balance).chain(crypto).chain(woovi).collect()
    }

    /// Applies one change.
    ///
    /// # Errors
    /// [`Inconsistent`] if the change contradicts the state. The cause is a defect of the simulator, or a damaged journal.
    pub fn apply(&mut self, change: Change) -> Result<(), Inconsistent> {
        match change {
            Change::CobCreated(cob) => self.add_cob(cob)?,
            Change::CobRevised { txid, terms } => {
                let cob = self.cob_mut(&txid)?;
                let past = std::mem::replace(&mut cob.terms, terms);
                cob.past.push(past);
                self.schedule_expiry_event(&txid);
            }
            Change::CobExpired { txid, created_at, expires_in_s } => {
                let position = *self.cob_by_txid.get(&txid).ok_or(Inconsistent("the charge does not exist"))?;
                let cob = self.cobs.get_mut(position).ok_or(Inconsistent("the charge does not exist"))?;
                self.cobs_by_creation.remove(&(cob.created_at, position));
                self.cobs_by_creation.insert((created_at, position));
                cob.created_at = created_at;
                cob.terms.expires_in_s = expires_in_s;
                self.schedule_expiry_event(&txid);
            }
            Change::Paid { payment, status, notify } => {
                let end_to_end_id = payment.end_to_end_id.clone();
                let txid = payment.txid.clone();
                self.add_payment(payment)?;
                let before = std::mem::replace(&mut self.cob_mut(&txid)?.terms.status, status);
                self.schedule_expiry_event(&txid);
                self.woovi.publish(Event::TransactionReceived, &Subject::Pix(end_to_end_id.clone()));
                if before != status {
                    self.woovi.publish(Event::ChargeCompleted, &Subject::Pix(end_to_end_id.clone()));
                }
                self.add_callback(end_to_end_id, notify);
            }
            Change::RefundRequested { end_to_end_id, refund } => self.add_refund(&end_to_end_id, refund)?,
            Change::RefundEnded { end_to_end_id, id, outcome, notify } => {
                self.end_refund(end_to_end_id, id, outcome, notify)?;
            }
            Change::SendAccepted(sent) => self.funds.send(self.sends.add(sent)?),
            Change::SendRepeated { send_id } => self.sends.repeat(&send_id)?,
            Change::SendEnded { send_id, outcome, notify } => {
                let sent = self.sends.end(&send_id, outcome)?;
                let (end_to_end_id, amount) = (sent.end_to_end_id.clone(), sent.amount);
                let is_failed = matches!(outcome, SendOutcome::Failed(_));
                if is_failed {
                    self.funds.add(amount);
                }
                let event = if is_failed { Event::MovementFailed } else { Event::MovementConfirmed };
                self.woovi.publish(event, &Subject::Payment(send_id));
                self.add_callback(end_to_end_id, notify);
            }
            Change::SendReturned { send_id, back, notify } => {
                let (amount, return_id) = (back.amount, back.return_id.clone());
                let end_to_end_id = self.sends.return_sent(&send_id, back)?.end_to_end_id.clone();
                self.funds.add(amount);
                let subject = Subject::Returned(send_id, return_id);
                self.woovi.publish(Event::ReturnConfirmed, &subject);
                self.woovi.publish(Event::RefundReceived, &subject);
                self.add_callback(end_to_end_id, notify);
            }
            Change::InfractionOpened { infraction, notify } => {
                let about = (infraction.end_to_end_id.clone(), Some(infraction.id.clone()));
                self.payment_position(&about.0)?;
                let subject = Subject::Dispute(infraction.id.clone());
                self.infractions.add(infraction)?;
                self.woovi.publish(Event::DisputeCreated, &subject);
                self.add_callback_about(about, notify);
            }
            Change::InfractionChanged { id, step, refund, notify } => {
                self.change_infraction(id, step, refund, notify)?;
            }
            Change::BalanceSet { balance } => self.funds.set(balance),
            Change::WebhookSet { key, webhook } => {
                self.webhooks.insert(key, webhook);
            }
            Change::WebhookRemoved { key } => {
                self.webhooks.remove(&key).ok_or(Inconsistent("the webhook does not exist"))?;
            }
            Change::NotificationEnded { number, delivered } => {
                self.owed.remove(&number).ok_or(Inconsistent("the callback does not exist"))?;
                let total = if delivered { &mut self.totals.delivered } else { &mut self.totals.abandoned };
                *total += 1;
            }
            Change::NotificationOwed { number, notification } => {
                self.owed.insert(number, notification);
            }
            Change::NotificationTotals(totals) => self.totals = totals,
            Change::Crypto(change) => self.crypto.apply(*change),
            Change::Woovi(change) => self.apply_woovi(*change)?,
        }
        Ok(())
    }

    fn cob_mut(&mut self, txid: &str) -> Result<&mut Cob, Inconsistent> {
        let position = *self.cob_by_txid.get(txid).ok_or(Inconsistent("the charge does not exist"))?;
        self.cobs.get_mut(position).ok_or(Inconsistent("the charge does not exist"))
    }

    fn payment_position(&self, end_to_end_id: &str) -> Result<usize, Inconsistent> {
        self.payment_by_e2e.get(end_to_end_id).copied().ok_or(Inconsistent("the Pix does not exist"))
    }

    fn payment_mut(&mut self, position: usize) -> Result<&mut Payment, Inconsistent> {
        self.payments.get_mut(position).ok_or(Inconsistent("the Pix does not exist"))
    }
}

fn between(index: &BTreeSet<(Timestamp, usize)>, from: Timestamp, to: Timestamp) -> impl Iterator<Item = usize> {
    // A range with a start after its end would panic, so an inverted period returns no rows.
    let range = (from <= to).then(|| index.range((from, 0)..=(to, usize::MAX)));
    range.into_iter().flatten().map(|(_, position)| *position)
}
