//! A Pix that arrived: the fact that upstream proved, and what it was to its charge.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, ChargeId};
use crate::money::Money;

/// A Pix that an acquirer received for a charge of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Names the Pix in the whole country; each is credited once.
    pub end_to_end_id: EndToEndId,
    /// What the payer sent.
    pub amount: Money,
    /// When the acquirer received it.
    pub paid_at: Timestamp,
    /// Who received it.
    pub acquirer: AcquirerName,
}

/// What a payment was to its charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentRole {
    /// It paid the charge.
    Settles,
    /// It came on top: a second one, or one for a charge that cannot be paid any more.
    Extra,
    /// It was below the charge's amount.
    Short,
}

impl PaymentRole {
    /// The word in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settles => "settles",
            Self::Extra => "extra",
            Self::Short => "short",
        }
    }

    /// The role of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Settles, Self::Extra, Self::Short].into_iter().find(|role| role.as_str() == word)
    }
}

/// Why a payment was not, or not only, what its charge asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnexpectedReason {
    /// The payment paid the charge and exceeded its amount.
    Overpaid,
    /// Another payment had paid the charge before.
    Duplicate,
    /// The payment was below the amount of a charge that nobody had paid.
    Underpaid,
    /// The charge was given up: no merchant ever saw it.
    Late,
}

impl UnexpectedReason {
    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overpaid => "overpaid",
            Self::Duplicate => "duplicate",
            Self::Underpaid => "underpaid",
            Self::Late => "late",
        }
    }
}

/// Money that was credited beyond what a charge asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnexpectedPayment {
    /// The Pix that brought it.
    pub end_to_end_id: EndToEndId,
    /// The part that the charge did not ask for: of an overpayment the excess, of any other payment all of it.
    pub amount: Money,
    /// Why the charge did not ask for it.
    pub reason: UnexpectedReason,
    /// The charge whose txid the Pix carried.
    pub charge: ChargeId,
    /// When the acquirer received the Pix.
    pub received_at: Timestamp,
}

/// A payment that was credited, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditedPayment {
    /// The fact from upstream.
    pub payment: Payment,
    /// Whose money it is.
    pub account: AccountId,
    /// The charge whose txid it carried.
    pub charge: ChargeId,
    /// What it was to the charge.
    pub role: PaymentRole,
    /// When it was credited.
    pub credited_at: Timestamp,
    /// The sum of what refunds took, or are about to take, of what was paid beyond the charge's amount. The store derives it from the
    /// refunds, which never change without their charge: whoever reads a payment to decide on it reads its charge first.
    pub refunded_beyond: Money,
}
