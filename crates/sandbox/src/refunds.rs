//! Returns of received Pix. The receiver requests a return, which becomes final after a second. Before that, the tester can let it fail.

use std::sync::Arc;

use cais_domain::{
    end_to_end_id::{EndToEndIdError, ReturnId},
    money::Money,
};
use jiff::Timestamp;

use crate::{
    psp::{Psp, Store, StoreError},
    random_ids,
    state::{
        change::Change,
        payment::{Nature, REFUND_WINDOW, Refund, RefundOutcome},
    },
};

/// `motivo` of a return that the tester let fail.
const FAILED_BY_TESTER: &str = "refused by the payer's institution";

/// `motivo` of a failed return that the account's balance did not cover at its request.
const NOT_COVERED: &str = "the account's balance does not cover the return";

/// A receiver's request for a return.
#[derive(Clone, Debug)]
pub struct RefundRequest {
    /// The receiver's identifier of the return, unique within the Pix.
    pub id: Box<str>,
    /// The amount.
    pub amount: Money,
    /// The part of the Pix that is returned: the purchase or the cash.
    pub nature: Nature,
    /// Text for the payer.
    pub description: Option<Box<str>>,
}

/// The reason why a receiver's or tester's request about a return was refused.
#[derive(Debug, thiserror::Error)]
pub enum RefundError {
    /// No Pix has this end-to-end id.
    #[error("no Pix has this end-to-end id")]
    PaymentNotFound,
    /// The Pix has no return of this id.
    #[error("the Pix has no return of this id")]
    RefundNotFound,
    /// The id was used for this Pix before.
    #[error("the id was already used for another return of this Pix")]
    IdTaken,
    /// The amount exceeds the part of the Pix that can still be returned.
    #[error("the returns together would exceed the amount of the Pix")]
    ExceedsPayment,
    /// The Pix was settled more than 90 days ago.
    #[error("a Pix may be returned for 90 days after its settlement")]
    TooLate,
    /// The return is `DEVOLVIDO` or `NAO_REALIZADO`.
    #[error("the return is already final")]
    AlreadyFinal,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id of the return cannot be composed, because the simulator's clock is beyond the year 9999.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

impl Psp {
    /// Accepts a return in the status `EM_PROCESSAMENTO`. A return above the account's balance is accepted too, and fails when it is due.
    ///
    /// # Errors
    /// [`RefundError`].
    pub fn request_refund(&self, end_to_end_id: &str, request: RefundRequest) -> Result<Refund, RefundError> {
        let now = self.clock.now();
        let return_id = ReturnId::compose(random_ids::ISPB, now, &random_ids::tail().map_err(StoreError::from)?)?;
        let mut store = self.write();
        let payment = store.books().find_payment(end_to_end_id).ok_or(RefundError::PaymentNotFound)?;
        if payment.find_refund(&request.id).is_some() {
            return Err(RefundError::IdTaken);
        }
        if now > payment.paid_at.saturating_add(REFUND_WINDOW).unwrap_or(Timestamp::MAX) {
            return Err(RefundError::TooLate);
        }
        if payment.refundable(request.nature).is_none_or(|left| request.amount > left) {
            return Err(RefundError::ExceedsPayment);
        }
        let refund = Refund {
            id: request.id,
            return_id: return_id.as_str().into(),
            amount: request.amount,
            nature: request.nature,
            description: request.description,
            requested_at: now,
            is_covered: store.books().funds().covers(request.amount),
            outcome: RefundOutcome::Processing,
        };
        let end_to_end_id = payment.end_to_end_id.clone();
        store.commit(Change::RefundRequested { end_to_end_id, refund: refund.clone() })?;
        drop(store);
        self.settlement_wakeup.notify_one();
        Ok(refund)
    }

    /// Lets a return fail: its status changes from `EM_PROCESSAMENTO` to `NAO_REALIZADO`.
    ///
    /// # Errors
    /// [`RefundError::PaymentNotFound`], [`RefundError::RefundNotFound`], [`RefundError::AlreadyFinal`] if the return is final,
    /// [`RefundError::Store`].
    pub fn fail_refund(&self, end_to_end_id: &str, id: &str) -> Result<(), RefundError> {
        self.settle_due()?;
        let mut store = self.write();
        let payment = store.books().find_payment(end_to_end_id).ok_or(RefundError::PaymentNotFound)?;
        let refund = payment.find_refund(id).ok_or(RefundError::RefundNotFound)?;
        match refund.outcome {
            RefundOutcome::Processing => {}
            RefundOutcome::Returned { .. } | RefundOutcome::Failed { .. } => {
                return Err(RefundError::AlreadyFinal);
            }
        }
        let end_to_end_id = payment.end_to_end_id.clone();
        let outcome = RefundOutcome::Failed { reason: FAILED_BY_TESTER.into() };
        self.end_refund(&mut store, end_to_end_id, id.into(), outcome)?;
        Ok(())
    }

    /// Ends every return that is due by `now`. A completed return has the instant at which it was due, not `now`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn settle_refunds(&self, store: &mut Store, now: Timestamp) -> Result<(), StoreError> {
        while let Some((payment, id, due)) = store.books().find_due_refund(now) {
            let is_covered = payment.find_refund(id).is_some_and(|refund| refund.is_covered);
            let outcome = if is_covered {
                RefundOutcome::Returned { at: due }
            } else {
                RefundOutcome::Failed { reason: NOT_COVERED.into() }
            };
            let (end_to_end_id, id) = (payment.end_to_end_id.clone(), Box::from(id));
            self.end_refund(store, end_to_end_id, id, outcome)?;
        }
        Ok(())
    }

    fn end_refund(
        &self,
        store: &mut Store,
        end_to_end_id: Arc<str>,
        id: Box<str>,
        outcome: RefundOutcome,
    ) -> Result<(), StoreError> {
        let notify = self.webhook_url(store);
        store.commit(Change::RefundEnded { end_to_end_id, id, outcome, notify })?;
        self.wake_callbacks();
        Ok(())
    }
}
