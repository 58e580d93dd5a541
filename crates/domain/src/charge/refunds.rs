//! What refunds and infractions do to their charge: they reserve a part of it, settle it or give it back.

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

    /// `amount` that was on its way back arrived; the charge is refunded when all of it did. An amount of zero was paid beyond the
    /// charge and changes nothing.
    pub(crate) fn settle_refund(self, amount: Money, at: Timestamp) -> Result<(Self, Option<EventType>), ChargeError> {
        if amount.is_zero() {
            return Ok((self, None));
        }
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

    /// `amount` of it went back without a refund: an infraction was lost.
    pub(crate) fn return_part(self, amount: Money, at: Timestamp) -> Result<(Self, Option<EventType>), ChargeError> {
        self.reserve_refund(amount)?.settle_refund(amount, at)
    }

    /// One more infraction on it is open.
    pub(crate) fn dispute(self) -> Self {
        Self { open_infractions: self.open_infractions.saturating_add(1), ..self }
    }

    /// One infraction less on it is open.
    pub(crate) fn undispute(self) -> Self {
        Self { open_infractions: self.open_infractions.saturating_sub(1), ..self }
    }
}
