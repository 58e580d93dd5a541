//! The effects of refunds and infractions on their charge: the amounts of its [`RefundTotals`], and the number of its
//! open infractions.

use jiff::Timestamp;

use super::{Charge, ChargeError, RefundTotals, Step};
use crate::event::EventType;
use crate::money::Money;

impl Charge {
    /// Adds `amount` to the refunds in flight. An amount above [`Charge::refundable`] is an error.
    pub(crate) fn reserve_refund(self, amount: Money) -> Result<Self, ChargeError> {
        if amount > self.refundable()? {
            return Err(ChargeError::Unbalanced);
        }
        let in_flight = self.refunds.in_flight.checked_add(amount)?;
        Ok(Self { refunds: RefundTotals { in_flight, ..self.refunds }, ..self })
    }

    /// Subtracts `amount` from the refunds in flight. The amount can then be refunded again.
    pub(crate) fn release_refund(self, amount: Money) -> Result<Self, ChargeError> {
        let in_flight = self.refunds.in_flight.checked_sub(amount)?;
        if in_flight.is_negative() {
            return Err(ChargeError::Unbalanced);
        }
        Ok(Self { refunds: RefundTotals { in_flight, ..self.refunds }, ..self })
    }

    /// Counts `amount` of the refunds in flight as refunded. When the whole amount of the charge is refunded, the
    /// charge becomes refunded.
    ///
    /// `amount` is the part of the refund that belongs to the charge's amount. The payer may have paid more. For a
    /// refund of the excess, `amount` is zero, and the charge does not change.
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

    /// Counts `amount` as refunded, because a lost infraction returned the money to the payer.
    pub(crate) fn return_part(self, amount: Money, at: Timestamp) -> Result<(Self, Option<EventType>), ChargeError> {
        self.reserve_refund(amount)?.settle_refund(amount, at)
    }

    /// Adds an open infraction.
    pub(crate) fn add_infraction(self) -> Self {
        Self { open_infractions: self.open_infractions.saturating_add(1), ..self }
    }

    /// Removes an open infraction.
    pub(crate) fn remove_infraction(self) -> Self {
        Self { open_infractions: self.open_infractions.saturating_sub(1), ..self }
    }
}
