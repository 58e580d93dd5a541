//! The changes of several parts of the books together: new charges, Pix, returns, and steps of infractions.

use std::sync::Arc;

use super::{
    Books, Inconsistent, MAX_OWED_NOTIFICATIONS,
    change::Notification,
    cob::Cob,
    infractions::InfractionStep,
    payment::{Payment, Refund, RefundOutcome},
    woovi,
};
use crate::woovi::state::delivery::{Event, Subject};

impl Books {
    pub(super) fn add_cob(&mut self, cob: Cob) -> Result<(), Inconsistent> {
        if self.cob_by_txid.contains_key(&cob.txid) {
            return Err(Inconsistent("the txid exists already"));
        }
        let position = self.cobs.len();
        self.cob_by_txid.insert(cob.txid.clone(), position);
        self.cob_by_location.insert(cob.location, position);
        self.cobs_by_creation.insert((cob.created_at, position));
        self.cobs.push(cob);
        Ok(())
    }

    pub(super) fn add_payment(&mut self, payment: Payment) -> Result<(), Inconsistent> {
        if self.payment_by_e2e.contains_key(&payment.end_to_end_id) {
            return Err(Inconsistent("the end-to-end id exists already"));
        }
        let position = self.payments.len();
        self.cob_mut(&payment.txid)?.payments.push(position);
        for refund in &payment.refunds {
            self.refund_by_id.entry(refund.id.clone()).or_insert(position);
            if refund.outcome == RefundOutcome::Processing {
                self.refunds_in_process.insert((refund.settles_at(), position, refund.id.clone()));
            }
        }
        self.funds.receive(&payment);
        self.payment_by_e2e.insert(payment.end_to_end_id.clone(), position);
        self.payments_by_time.insert((payment.paid_at, position));
        self.payments.push(payment);
        Ok(())
    }

    pub(super) fn add_refund(&mut self, end_to_end_id: &str, refund: Refund) -> Result<(), Inconsistent> {
        let position = self.payment_position(end_to_end_id)?;
        let in_process = (refund.settles_at(), position, refund.id.clone());
        self.funds.refund(&refund);
        self.refund_by_id.entry(refund.id.clone()).or_insert(position);
        self.payment_mut(position)?.refunds.push(refund);
        self.refunds_in_process.insert(in_process);
        Ok(())
    }

    pub(super) fn end_refund(
        &mut self,
        end_to_end_id: Arc<str>,
        id: Box<str>,
        outcome: RefundOutcome,
        notify: Option<Arc<str>>,
    ) -> Result<(), Inconsistent> {
        let position = self.payment_position(&end_to_end_id)?;
        let payment = self.payment_mut(position)?;
        let refund = payment.refunds.iter_mut().find(|refund| refund.id == id);
        let refund = refund.ok_or(Inconsistent("the return does not exist"))?;
        refund.outcome = outcome;
        let (due, amount) = (refund.settles_at(), refund.amount);
        let is_failed = matches!(refund.outcome, RefundOutcome::Failed { .. });
        if refund.is_covered && is_failed {
            self.funds.add(amount);
        }
        self.refunds_in_process.remove(&(due, position, id.clone()));
        let subject = Subject::Refund(end_to_end_id.clone(), id);
        if is_failed {
            self.woovi.publish(Event::RefundRejected, &subject);
        } else {
            self.woovi.publish(Event::RefundConfirmed, &subject);
            self.woovi.publish(Event::RefundReceived, &subject);
        }
        self.add_callback(end_to_end_id, notify);
        Ok(())
    }

    pub(super) fn change_infraction(
        &mut self,
        id: Arc<str>,
        step: InfractionStep,
        refund: Option<Refund>,
        notify: Option<Arc<str>>,
    ) -> Result<(), Inconsistent> {
        let refund_id = refund.as_ref().map(|refund| refund.id.clone());
        let event = woovi::dispute_event(&step);
        let end_to_end_id = self.infractions.step(&id, step, refund_id)?.end_to_end_id.clone();
        if let Some(event) = event {
            self.woovi.publish(event, &Subject::Dispute(id.clone()));
        }
        if let Some(refund) = refund {
            // The Pix existed when the infraction was opened, and no Pix is ever removed.
            self.add_refund(&end_to_end_id, refund)?;
        }
        self.add_callback_about((end_to_end_id, Some(id)), notify);
        Ok(())
    }

    /// Queues a callback about a Pix.
    pub(super) fn add_callback(&mut self, end_to_end_id: Arc<str>, url: Option<Arc<str>>) {
        self.add_callback_about((end_to_end_id, None), url);
    }

    /// Queues a callback about a Pix, or about an infraction of it.
    pub(super) fn add_callback_about(
        &mut self,
        (end_to_end_id, infraction): (Arc<str>, Option<Arc<str>>),
        url: Option<Arc<str>>,
    ) {
        let Some(url) = url else { return };
        if self.owed.len() < MAX_OWED_NOTIFICATIONS {
            self.owed.insert(self.totals.created, Notification { end_to_end_id, infraction, url });
        } else {
            self.totals.abandoned += 1;
        }
        self.totals.created += 1;
    }
}
