//! Returns of received Pix: asked for by the receiver, final after a second, or failed by the tester.

use std::sync::Arc;

use cais_domain::{
    end_to_end_id::{EndToEndIdError, ReturnId},
    money::Money,
};
use jiff::{SignedDuration, Timestamp};

use crate::{
    dice,
    psp::{Psp, Store, StoreError},
    state::{
        change::Change,
        payment::{Nature, REFUND_WINDOW, Refund, RefundOutcome},
    },
};

/// What a return that the tester failed says about itself.
const FAILED_BY_TESTER: &str = "refused by the payer's institution";

/// Longest sleep of the settler: the machine's clock may be moved too.
const LONGEST_SLEEP: SignedDuration = SignedDuration::from_secs(1);

/// What a receiver asks for.
#[derive(Clone, Debug)]
pub struct RefundRequest {
    /// Chosen by the receiver.
    pub id: Box<str>,
    /// How much.
    pub amount: Money,
    /// Which part of the Pix.
    pub nature: Nature,
    /// Text for the payer.
    pub description: Option<Box<str>>,
}

/// Why a return was refused.
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
    /// More than what is left of the Pix.
    #[error("the returns together would exceed the amount of the Pix")]
    ExceedsPayment,
    /// More than 90 days after settlement.
    #[error("a Pix may be returned for 90 days after its settlement")]
    TooLate,
    /// The return is `DEVOLVIDO` or `NAO_REALIZADO`.
    #[error("the return is already final")]
    AlreadyFinal,
    /// The system cannot serve.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id could not be composed; only a year beyond 9999 does that.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

impl Psp {
    /// Takes in a return; it is `EM_PROCESSAMENTO` afterwards.
    ///
    /// # Errors
    /// [`RefundError`].
    pub fn request_refund(&self, end_to_end_id: &str, request: RefundRequest) -> Result<Refund, RefundError> {
        let now = self.clock.now();
        let return_id = ReturnId::compose(dice::ISPB, now, &dice::tail().map_err(StoreError::from)?)?;
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
            outcome: RefundOutcome::Processing,
        };
        let end_to_end_id = payment.end_to_end_id.clone();
        store.commit(Change::RefundRequested { end_to_end_id, refund: refund.clone() })?;
        drop(store);
        self.refund_bell.notify_one();
        Ok(refund)
    }

    /// Makes a return `NAO_REALIZADO` before it completes.
    ///
    /// # Errors
    /// [`RefundError::AlreadyFinal`] when it is too late for that, and the not-found ones.
    pub fn fail_refund(&self, end_to_end_id: &str, id: &str) -> Result<(), RefundError> {
        self.settle_due_refunds()?;
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

    /// Makes every return final whose second is over, with the time at which it was. Every reader calls it first,
    /// so that what is read depends on the clock alone.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn settle_due_refunds(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        if self.read().books().find_due_refund(now).is_none() {
            return Ok(());
        }
        let mut store = self.write();
        while let Some((payment, id, due)) = store.books().find_due_refund(now) {
            let (end_to_end_id, id) = (payment.end_to_end_id.clone(), Box::from(id));
            self.end_refund(&mut store, end_to_end_id, id, RefundOutcome::Returned { at: due })?;
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
        let notify = store.books().find_webhook(&self.identity.pix_key).map(|webhook| webhook.url.clone());
        store.commit(Change::RefundEnded { end_to_end_id, id, outcome, notify })?;
        self.callback_bell.notify_one();
        Ok(())
    }
}

/// Makes returns final on time even when nobody reads, so that their callbacks leave. Never ends.
pub async fn settle_on_time(psp: Arc<Psp>) {
    loop {
        let wait = {
            let next = psp.read().books().next_refund_due();
            next.map(|due| psp.clock.now().duration_until(due).clamp(SignedDuration::ZERO, LONGEST_SLEEP))
        };
        match wait {
            None => psp.refund_bell.notified().await,
            Some(wait) => {
                tokio::select! {
                    () = psp.refund_bell.notified() => {}
                    () = tokio::time::sleep(wait.unsigned_abs()) => {}
                }
            }
        }
        if let Err(error) = psp.settle_due_refunds() {
            report(&error);
            tokio::time::sleep(LONGEST_SLEEP.unsigned_abs()).await;
        }
    }
}

fn report(error: &(dyn std::error::Error + 'static)) {
    tracing::error!(error, "returns could not be settled");
}
