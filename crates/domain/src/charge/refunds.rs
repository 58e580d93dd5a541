//! What refunds do to their charge: they reserve a part of it, and settle or give back that part.

use jiff::Timestamp;

use super::{Charge, ChargeError, RefundTotals, Step};
use crate::event::EventType;
use crate::money::Money;

impl Charge {
    /// `amount` of it is on its way back.
    pub(crate) fn reserve_refund(self, amount: Money) -> Result<Self, ChargeError> {
        if amount > self.refundable()? {
            return Err(ChargeError::Unbalanced);
        }
        let in_flight = self.refunds.in_flight.checked_add(amount)?;
        Ok(Self { refunds: RefundTotals { in_flight, ..self.refunds }, ..self })
    }

    /// `amount` that was on its way back does not go back after all.
    pub(crate) fn release_refund(self, amount: Money) -> Result<Self, ChargeError> {
        let in_flight = self.refunds.in_flight.checked_sub(amount)?;
        if in_flight.is_negative() {
            return Err(ChargeError::Unbalanced);
        }
        Ok(Self { refunds: RefundTotals { in_flight, ..self.refunds }, ..self })
    }

    /// `amount` that was on its way back arrived; the charge is refunded when all of it did.
    pub(crate) fn settle_refund(self, amount: Money, at: Timestamp) -> Result<(Self, Option<EventType>), ChargeError> {
        let released = self.release_refund(amount)?;
        let done = released.refunds.done.checked_add(amount)?;
        let charge = Self { refunds: RefundTotals { done, ..released.refunds }, ..released };
        if charge.refunds.done < charge.terms.amount {
            return Ok((charge, None));
        }
        match charge.refund(at)? {
            Step::Taken { charge, event } => Ok((charge, event)),
            Step::AlreadyTaken(charge) => Ok((charge, None)),
        }
    }
}
