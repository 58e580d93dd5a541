//! The money of the simulated account.

use cais_domain::money::Money;

use super::{
    payment::{Payment, Refund, RefundOutcome},
    sent::{SendOutcome, Sent},
};

/// The balance. Movements change the balance even before it is first set, because an old state file has movements but no balance. The
/// opening balance is then added to the sum of these movements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Funds {
    balance: Money,
    is_open: bool,
}

impl Funds {
    /// Returns the balance.
    #[must_use]
    pub fn balance(self) -> Money {
        self.balance
    }

    /// Returns whether the balance was ever set.
    #[must_use]
    pub fn is_open(self) -> bool {
        self.is_open
    }

    /// Returns whether the balance covers `amount`.
    #[must_use]
    pub fn covers(self, amount: Money) -> bool {
        self.balance >= amount
    }

    pub(super) fn set(&mut self, balance: Money) {
        *self = Self { balance, is_open: true };
    }

    /// Adds the amount of a received Pix, and applies its returns.
    pub(super) fn receive(&mut self, payment: &Payment) {
        self.add(payment.amount);
        for refund in &payment.refunds {
            self.refund(refund);
        }
    }

    /// Subtracts the amount of a return, unless the return failed or was not covered.
    pub(super) fn refund(&mut self, refund: &Refund) {
        if refund.is_covered && !matches!(refund.outcome, RefundOutcome::Failed { .. }) {
            self.subtract(refund.amount);
        }
    }

    /// Subtracts the amount of a sent Pix, unless the Pix failed. Adds the parts that its recipient returned.
    pub(super) fn send(&mut self, sent: &Sent) {
        if !matches!(sent.outcome, SendOutcome::Failed(_)) {
            self.subtract(sent.amount);
        }
        for back in &sent.returns {
            self.add(back.amount);
        }
    }

    pub(super) fn add(&mut self, amount: Money) {
        // The largest 64-bit number is never reached in practice: that needs millions of the largest amounts.
        self.balance = self.balance.checked_add(amount).unwrap_or(Money::from_centavos(i64::MAX));
    }

    fn subtract(&mut self, amount: Money) {
        self.balance = self.balance.checked_sub(amount).unwrap_or(Money::from_centavos(i64::MIN));
    }
}
