//! The effects of refunds and infractions on their charge: a part of the amount is reserved, refunded or released.

use jiff::Timestamp;

use super::{Charge, ChargeError, RefundTotals, Step};
use crate::event::EventType;
use crate::money::Money;

impl Charge {
    /// Reserves `amount` for a refund.
    pub(crate) fn reserve_refund(self, amount: Money) -> Result<Self, ChargeError> {
        if amount > self.refundable()? {
            return Err(ChargeError::Unbalanced);
        }
        let in_flight = self.refunds.in_flight.checked_add(amount)?;
        Ok(Self { refunds: RefundTotals { in_flight, ..self.refunds }, ..self })
    }

    /// Releases the reserved `amount` of a refund.
    pub(crate) fn release_refund(self, amount: Money) -> Result<Self, ChargeError> {
        let in_flight = self.refunds.in_flight.checked_sub(amount)?;
        if in_flight.is_negative() {
            return Err(ChargeError::Unbalanced);
        }
        Ok(Self { refunds: RefundTotals { in_flight, ..self.refunds }, ..self })
    }

    /// Counts the reserved `amount` as refunded. When the whole amount of the charge is refunded, the charge becomes
    /// refunded. A refund of money that was paid beyond the charge's amount has an `amount` of zero. Such a refund does
    /// not change the charge.
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

    /// Counts `amount` as refunded, because a lost infraction returned it without a refund.
    pub(crate) fn return_part(self, amount: Money, at: Timestamp) -> Result<(Self, Option<EventType>), ChargeError> {
        self.reserve_refund(amount)?.settle_refund(amount, at)
    }

    /// Adds an open infraction.
    pub(crate) fn dispute(self) -> Self {
        Self { open_infractions: self.open_infractions.saturating_add(1), ..self }
    }

    /// Removes an open infraction.
    pub(crate) fn undispute(self) -> Self {
        Self { open_infractions: self.open_infractions.saturating_sub(1), ..self }
    }
}
