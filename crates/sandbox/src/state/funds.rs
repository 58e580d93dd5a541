//! The money of the simulated account.

use cais_domain::money::Money;

use super::{
    payment::{Payment, Refund, RefundOutcome},
    sent::{SendOutcome, Sent},
};

/// The balance. It follows every movement also before it is set for the first time, so that the opening amount of a
/// state that is older than balances is added to what had moved until then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Funds {
    balance: Money,
    is_open: bool,
}

impl Funds {
    /// What may be spent.
    #[must_use]
    pub fn balance(self) -> Money {
        self.balance
    }

    /// Whether the balance was ever set.
    #[must_use]
    pub fn is_open(self) -> bool {
        self.is_open
    }

    /// Whether `amount` may be spent.
    #[must_use]
    pub fn covers(self, amount: Money) -> bool {
        self.balance >= amount
    }

    pub(super) fn set(&mut self, balance: Money) {
        *self = Self { balance, is_open: true };
    }

    /// A Pix with the returns that it has already.
    pub(super) fn receive(&mut self, payment: &Payment) {
        self.add(payment.amount);
        for refund in &payment.refunds {
            self.refund(refund);
        }
    }

    /// A return as it stands.
    pub(super) fn refund(&mut self, refund: &Refund) {
        if refund.is_covered && !matches!(refund.outcome, RefundOutcome::Failed { .. }) {
            self.take(refund.amount);
        }
    }

    /// A send as it stands.
    pub(super) fn send(&mut self, sent: &Sent) {
        if !matches!(sent.outcome, SendOutcome::Failed(_)) {
            self.take(sent.amount);
        }
        for back in &sent.returns {
            self.add(back.amount);
        }
    }

    pub(super) fn add(&mut self, amount: Money) {
        // Millions of the largest amounts on the wire are needed to get there.
        self.balance = self.balance.checked_add(amount).unwrap_or(Money::from_centavos(i64::MAX));
    }

    fn take(&mut self, amount: Money) {
        self.balance = self.balance.checked_sub(amount).unwrap_or(Money::from_centavos(i64::MIN));
    }
}
