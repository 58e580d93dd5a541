//! Refunds of Woovi's API: returns of received Pix. The client gives each refund a `correlationID`.

use cais_domain::money::Money;

use super::error::WooviError;
use crate::{
    psp::Psp,
    refunds::{RefundError, RefundRequest},
    state::{
        Books,
        payment::{Nature, Payment, Refund},
    },
};

/// A client's request for a refund.
#[derive(Clone, Debug)]
pub struct RefundOrder {
    /// `correlationID` of the refund.
    pub correlation_id: Box<str>,
    /// The amount; `None` for the whole part that can still be returned.
    pub amount: Option<Money>,
    /// `comment`.
    pub comment: Option<Box<str>>,
}

impl Psp {
    /// Requests a refund of a charge. If the charge has several Pix, refunds the first one of which the amount can still be returned.
    ///
    /// # Errors
    /// [`WooviError`] for an unknown or unpaid charge, if no Pix has enough left, and the errors of [`Psp::refund_pix`].
    pub fn refund_charge(&self, id: &str, order: RefundOrder) -> Result<Refund, WooviError> {
        self.settle_due()?;
        let end_to_end_id = {
            let store = self.read();
            let books = store.books();
            let cob = super::charges::find_any(books, id)?;
            let has_enough = |payment: &&Payment| {
                left(payment).is_some_and(|left| left >= order.amount.unwrap_or(Money::from_centavos(1)))
            };
            let paid = books.payments_of(cob).find(has_enough).or_else(|| books.payments_of(cob).last());
            paid.ok_or_else(|| WooviError::refused("Charge is not completed"))?.end_to_end_id.clone()
        };
        self.refund_pix(&end_to_end_id, order)
    }

    /// Requests a refund of a received Pix, or of a part of it.
    ///
    /// # Errors
    /// [`WooviError`] for a used `correlationID`, an unknown Pix, a Pix that can no longer be returned, and an amount above the balance or
    /// above the part that can still be returned.
    pub fn refund_pix(&self, end_to_end_id: &str, order: RefundOrder) -> Result<Refund, WooviError> {
        self.settle_due()?;
        let amount = {
            let store = self.read();
            let books = store.books();
            if books.find_refunded(&order.correlation_id).is_some() {
                return Err(WooviError::refused("Já existe um reembolso com o correlationID fornecido"));
            }
            let payment = books.find_payment(end_to_end_id).ok_or_else(|| WooviError::not_found("Transaction"))?;
            let left = left(payment).filter(|left| left.is_positive());
            let left = left.ok_or_else(|| WooviError::refused(RefundError::ExceedsPayment.to_string()))?;
            let amount = order.amount.unwrap_or(left);
            if !books.funds().covers(amount) {
                return Err(WooviError::refused("Saldo insuficiente"));
            }
            amount
        };
        let request =
            RefundRequest { id: order.correlation_id, amount, nature: Nature::Original, description: order.comment };
        self.request_refund(end_to_end_id, request).map_err(|error| match error {
            RefundError::PaymentNotFound => WooviError::not_found("Transaction"),
            RefundError::Store(error) => error.into(),
            RefundError::IdTaken => WooviError::refused("Já existe um reembolso com o correlationID fornecido"),
            RefundError::ExceedsPayment | RefundError::TooLate => WooviError::refused(error.to_string()),
            RefundError::RefundNotFound | RefundError::AlreadyFinal | RefundError::Id(_) => {
                WooviError::internal(error.to_string())
            }
        })
    }
}

/// Returns the part of a Pix that can still be refunded.
fn left(payment: &Payment) -> Option<Money> {
    payment.refundable(Nature::Original)
}

/// Returns whether a client requested the refund. `false`: the institution returned the money because of a lost dispute.
#[must_use]
pub fn is_requested(refund: &Refund) -> bool {
    match refund.nature {
        Nature::Original | Nature::Withdrawal => true,
        Nature::MedFraud | Nature::MedOperational => false,
    }
}

/// Returns the requested refund with this `correlationID`, `refundId` or `rtrId`, and its Pix.
#[must_use]
pub fn find<'a>(books: &'a Books, id: &str) -> Option<(&'a Payment, &'a Refund)> {
    let of = |payment: &'a Payment, id: &str| Some((payment, payment.find_refund(id)?));
    let by_name = books.find_refunded(id).and_then(|payment| of(payment, id));
    let by_return_id = || {
        let all = books.payments().iter();
        let mut all = all.flat_map(|payment| payment.refunds.iter().map(move |refund| (payment, refund)));
        all.find(|(_, refund)| refund.return_id.eq_ignore_ascii_case(id))
    };
    by_name.or_else(by_return_id).filter(|(_, refund)| is_requested(refund))
}

/// Returns all requested refunds with their Pix, the newest first.
#[must_use]
pub fn all(books: &Books) -> Vec<(&Payment, &Refund)> {
    let all = books.payments().iter();
    let all = all.flat_map(|payment| payment.refunds.iter().map(move |refund| (payment, refund)));
    let mut all: Vec<_> = all.filter(|(_, refund)| is_requested(refund)).collect();
    all.sort_by_key(|(_, refund)| std::cmp::Reverse(refund.requested_at));
    all
}
