//! The state that only Woovi's API has: `correlationID`s and customers of charges, payments before their approval, evidence, webhooks and
//! waiting deliveries. All other state is in the institution's books.

pub mod charge;
pub mod delivery;
pub mod payment;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::{
    charge::ChargeFields,
    delivery::{Delivery, DeliveryTotals, Event, Subject, Webhook},
    payment::{Document, PaymentRequest},
};
use crate::state::{
    Inconsistent, MAX_OWED_NOTIFICATIONS,
    cob::{Cob, CobStatus},
};

/// A change by Woovi's API, written as a line of the journal (the state file).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WooviChange {
    /// A charge was created. In a snapshot, the change has only `fields`, because the institution's books restore the charge itself.
    Charge {
        /// The charge.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cob: Option<Box<Cob>>,
        /// The fields that this API adds to the charge.
        #[serde(rename = "names")]
        fields: ChargeFields,
    },
    /// A charge has expired, and its event was published.
    ChargeExpired {
        /// The txid of the charge.
        txid: Arc<str>,
    },
    /// A payment was requested and waits for its approval.
    Payment(PaymentRequest),
    /// A request repeated the `correlationID` of a payment and was refused.
    PaymentRepeated {
        /// The `correlationID`.
        id: Arc<str>,
    },
    /// A payment was removed before its approval.
    PaymentRemoved {
        /// The `correlationID`.
        id: Arc<str>,
    },
    /// Evidence for a dispute was accepted.
    Evidence {
        /// The id of the infraction.
        id: Arc<str>,
        /// The new documents.
        documents: Vec<Document>,
        /// The instant of acceptance.
        #[serde(with = "crate::wire::micros")]
        at: Timestamp,
    },
    /// A webhook was registered; its test delivery is due.
    WebhookCreated(Webhook),
    /// A webhook was removed.
    WebhookRemoved {
        /// The id of the webhook.
        id: Arc<str>,
    },
    /// A delivery was answered 2xx, or failed at the last attempt.
    DeliveryEnded {
        /// The number of the delivery.
        number: u64,
        /// `true` if the delivery was answered 2xx.
        delivered: bool,
    },
    /// Snapshots only: the evidence, the webhooks and the waiting deliveries.
    Restored {
        /// The documents by infraction.
        evidence: BTreeMap<Arc<str>, Vec<Document>>,
        /// The webhooks.
        webhooks: Vec<Webhook>,
        /// The waiting deliveries with their numbers.
        owed: Vec<(u64, Delivery)>,
        /// The numbers of deliveries by outcome.
        totals: DeliveryTotals,
    },
}

/// The state that only Woovi's API has.
#[derive(Debug, Default)]
pub struct WooviBooks {
    txid_by_id: HashMap<Arc<str>, Arc<str>>,
    fields_by_txid: HashMap<Arc<str>, ChargeFields>,
    /// The expiries of unpaid charges of this API whose event is still to be published. `expiries` has the same pairs, ordered by instant.
    expiry_by_txid: HashMap<Arc<str>, Timestamp>,
    expiries: BTreeSet<(Timestamp, Arc<str>)>,
    payments: Vec<PaymentRequest>,
    payment_by_id: HashMap<Arc<str>, usize>,
    evidence: BTreeMap<Arc<str>, Vec<Document>>,
    webhooks: Vec<Webhook>,
    owed: BTreeMap<u64, Delivery>,
    totals: DeliveryTotals,
}

impl WooviBooks {
    /// Returns the txid of the charge with this `correlationID`.
    #[must_use]
    pub fn find_txid(&self, correlation_id: &str) -> Option<&Arc<str>> {
        self.txid_by_id.get(correlation_id)
    }

    /// Returns the fields that this API adds to a charge; `None` for a charge that was created through the API Pix.
    #[must_use]
    pub fn find_charge_fields(&self, txid: &str) -> Option<&ChargeFields> {
        self.fields_by_txid.get(txid)
    }

    /// Returns the payments in the order of their requests.
    #[must_use]
    pub fn payments(&self) -> &[PaymentRequest] {
        &self.payments
    }

    /// Returns the payment with this `correlationID`.
    #[must_use]
    pub fn find_payment(&self, correlation_id: &str) -> Option<&PaymentRequest> {
        self.payments.get(*self.payment_by_id.get(correlation_id)?)
    }

    /// Returns the evidence for an infraction, oldest first.
    #[must_use]
    pub fn evidence(&self, infraction_id: &str) -> &[Document] {
        self.evidence.get(infraction_id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the webhooks in the order of their registration.
    #[must_use]
    pub fn webhooks(&self) -> &[Webhook] {
        &self.webhooks
    }

    /// Returns the waiting deliveries by number.
    #[must_use]
    pub fn owed(&self) -> &BTreeMap<u64, Delivery> {
        &self.owed
    }

    /// Returns the numbers of deliveries by outcome.
    #[must_use]
    pub fn totals(&self) -> DeliveryTotals {
        self.totals
    }

    /// Returns the next expiry whose event is still to be published, and the txid of its charge.
    #[must_use]
    pub fn next_expiry(&self) -> Option<(Timestamp, &Arc<str>)> {
        self.expiries.first().map(|(at, txid)| (*at, txid))
    }

    /// Returns the changes that rebuild this state from the empty state. They must be applied after the changes that rebuild the
    /// institution's books.
    pub fn snapshot(&self) -> impl Iterator<Item = WooviChange> {
        let charges = self.fields_by_txid.values().cloned();
        let charges = charges.map(|fields| WooviChange::Charge { cob: None, fields });
        let payments = self.payments.iter().cloned().map(WooviChange::Payment);
        let rest = WooviChange::Restored {
            evidence: self.evidence.clone(),
            webhooks: self.webhooks.clone(),
            owed: self.owed.iter().map(|(number, delivery)| (*number, delivery.clone())).collect(),
            totals: self.totals,
        };
        charges.chain(payments).chain(std::iter::once(rest))
    }

    /// Publishes an event: one delivery for each active webhook of the event.
    pub fn publish(&mut self, event: Event, subject: &Subject) {
        let wanted = self.webhooks.iter().filter(|webhook| webhook.is_active && webhook.event == event);
        let due: Vec<Arc<str>> = wanted.map(|webhook| webhook.id.clone()).collect();
        for webhook_id in due {
            self.add_delivery(Delivery { webhook_id, event, subject: subject.clone() });
        }
    }

    /// Updates, after a change of a charge, the expiry whose event is still to be published. A charge has no such expiry if it is paid or
    /// removed, or if the event was published already.
    pub fn schedule_expiry_event(&mut self, cob: &Cob) {
        let Some(fields) = self.fields_by_txid.get(&cob.txid) else { return };
        let expires_at = cob.expires_at();
        let waits = cob.terms.status == CobStatus::Active && fields.reported_expiry != Some(expires_at);
        if let Some(at) = self.expiry_by_txid.remove(&cob.txid) {
            self.expiries.remove(&(at, cob.txid.clone()));
        }
        if waits {
            self.expiry_by_txid.insert(cob.txid.clone(), expires_at);
            self.expiries.insert((expires_at, cob.txid.clone()));
        }
    }

    /// Adds this API's own fields to an existing charge.
    pub(crate) fn add_charge_fields(&mut self, fields: ChargeFields) -> Result<(), Inconsistent> {
        if self.txid_by_id.contains_key(&fields.correlation_id) {
            return Err(Inconsistent("the correlationID of a charge exists already"));
        }
        self.txid_by_id.insert(fields.correlation_id.clone(), fields.txid.clone());
        self.fields_by_txid.insert(fields.txid.clone(), fields);
        Ok(())
    }

    /// Records that the expiry of a charge was published.
    pub(crate) fn report_expiry(&mut self, cob: &Cob) -> Result<(), Inconsistent> {
        let fields =
            self.fields_by_txid.get_mut(&cob.txid).ok_or(Inconsistent("the charge has no fields of this API"))?;
        fields.reported_expiry = Some(cob.expires_at());
        self.schedule_expiry_event(cob);
        Ok(())
    }

    /// Applies the part of a change that concerns only this state. The institution's books stay unchanged.
    ///
    /// # Errors
    /// [`Inconsistent`] if the change contradicts the state. Then nothing was changed.
    pub(crate) fn apply(&mut self, change: WooviChange) -> Result<(), Inconsistent> {
        match change {
            WooviChange::Payment(payment) => {
                if self.payment_by_id.contains_key(&payment.correlation_id) {
                    return Err(Inconsistent("the correlationID of a payment exists already"));
                }
                self.payment_by_id.insert(payment.correlation_id.clone(), self.payments.len());
                self.payments.push(payment);
            }
            WooviChange::PaymentRepeated { id } => self.payment_mut(&id)?.requests += 1,
            WooviChange::PaymentRemoved { id } => {
                self.payment_mut(&id)?.is_removed = true;
                self.publish(Event::MovementRemoved, &Subject::Payment(id));
            }
            WooviChange::WebhookCreated(webhook) => {
                let (webhook_id, event) = (webhook.id.clone(), webhook.event);
                self.webhooks.push(webhook);
                self.add_delivery(Delivery { webhook_id, event, subject: Subject::Test });
            }
            WooviChange::WebhookRemoved { id } => {
                let position = self.webhooks.iter().position(|webhook| webhook.id == id);
                self.webhooks.remove(position.ok_or(Inconsistent("the webhook does not exist"))?);
            }
            WooviChange::DeliveryEnded { number, delivered } => {
                self.owed.remove(&number).ok_or(Inconsistent("the delivery does not exist"))?;
                let total = if delivered { &mut self.totals.delivered } else { &mut self.totals.abandoned };
                *total += 1;
            }
            WooviChange::Restored { evidence, webhooks, owed, totals } => {
                self.evidence = evidence;
                self.webhooks = webhooks;
                self.owed = owed.into_iter().collect();
                self.totals = totals;
            }
            WooviChange::Evidence { id, documents, at: _ } => self.evidence.entry(id).or_default().extend(documents),
            WooviChange::Charge { cob: _, fields } => self.add_charge_fields(fields)?,
            WooviChange::ChargeExpired { txid: _ } => {}
        }
        Ok(())
    }

    fn payment_mut(&mut self, id: &str) -> Result<&mut PaymentRequest, Inconsistent> {
        const MISSING: Inconsistent = Inconsistent("the payment does not exist");
        let position = *self.payment_by_id.get(id).ok_or(MISSING)?;
        self.payments.get_mut(position).ok_or(MISSING)
    }

    fn add_delivery(&mut self, delivery: Delivery) {
        if self.owed.len() < MAX_OWED_NOTIFICATIONS {
            self.owed.insert(self.totals.created, delivery);
        } else {
            self.totals.abandoned += 1;
        }
        self.totals.created += 1;
    }
}
