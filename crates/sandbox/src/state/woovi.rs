//! Applies the changes that requests to Woovi's API cause in the institution's books.

use super::{
    Books, Inconsistent,
    cob::Cob,
    infraction::{Defense, InfractionStatus},
    infractions::InfractionStep,
};
use crate::woovi::state::{
    WooviBooks, WooviChange,
    delivery::{Event, Subject},
    payment::Document,
};

impl Books {
    /// Returns the state that only Woovi's API has.
    #[must_use]
    pub fn woovi(&self) -> &WooviBooks {
        &self.woovi
    }

    /// Returns the charge with this txid, or with this `correlationID` of Woovi's API, and the charge's position.
    #[must_use]
    pub fn find_named_cob(&self, id: &str) -> Option<(usize, &Cob)> {
        self.find_cob(id).or_else(|| self.find_cob(self.woovi.find_txid(id)?))
    }

    /// Applies a change of Woovi's API.
    ///
    /// # Errors
    /// [`Inconsistent`] if the change contradicts the state. Only a defect of the simulator causes this error.
    pub(super) fn apply_woovi(&mut self, change: WooviChange) -> Result<(), Inconsistent> {
        match change {
            WooviChange::Charge { cob, fields } => {
                let txid = fields.txid.clone();
                let is_new = cob.is_some();
                if let Some(cob) = cob {
                    self.add_cob(*cob)?;
                }
                self.woovi.add_charge_fields(fields)?;
                self.schedule_expiry_event(&txid);
                if is_new {
                    self.woovi.publish(Event::ChargeCreated, &Subject::Charge(txid));
                }
            }
            WooviChange::ChargeExpired { txid } => {
                let position = *self.cob_by_txid.get(&txid).ok_or(Inconsistent("the charge does not exist"))?;
                let cob = self.cobs.get(position).ok_or(Inconsistent("the charge does not exist"))?;
                self.woovi.report_expiry(cob)?;
                self.woovi.publish(Event::ChargeExpired, &Subject::Charge(txid));
            }
            WooviChange::Evidence { id, documents, at } => {
                let all = self.woovi.evidence(&id).iter().chain(&documents);
                let text = all.map(Document::shown).collect::<Vec<_>>().join("\n");
                self.infractions.step(&id, InfractionStep::Defended(Defense { text: text.into(), at }), None)?;
                self.woovi.apply(WooviChange::Evidence { id, documents, at })?;
            }
            own @ (WooviChange::Payment(_)
            | WooviChange::PaymentRepeated { .. }
            | WooviChange::PaymentRemoved { .. }
            | WooviChange::WebhookCreated(_)
            | WooviChange::WebhookRemoved { .. }
            | WooviChange::DeliveryEnded { .. }
            | WooviChange::Restored { .. }) => self.woovi.apply(own)?,
        }
        Ok(())
    }

    /// Updates the instant at which Woovi's API publishes that the charge has expired. Called after each change of a charge.
    pub(super) fn schedule_expiry_event(&mut self, txid: &str) {
        if let Some(cob) = self.cob_by_txid.get(txid).and_then(|position| self.cobs.get(*position)) {
            self.woovi.schedule_expiry_event(cob);
        }
    }
}

/// Returns the event of Woovi's API for a step of an infraction; `None` for a step without an event.
pub(super) const fn dispute_event(step: &InfractionStep) -> Option<Event> {
    match step {
        InfractionStep::Defended(_) | InfractionStep::DefenseRefused => None,
        InfractionStep::Reopened { .. } => Some(Event::DisputeCreated),
        InfractionStep::Ended { status, .. } => match status {
            InfractionStatus::Accepted => Some(Event::DisputeAccepted),
            InfractionStatus::Rejected => Some(Event::DisputeRejected),
            InfractionStatus::Cancelled => Some(Event::DisputeCanceled),
            InfractionStatus::Open | InfractionStatus::Defended => None,
        },
    }
}
