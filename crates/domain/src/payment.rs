//! The payment of a charge: a received Pix as the acquirer recorded it, and the role of this payment for the charge.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, ChargeId};
use crate::money::Money;

/// A Pix that an acquirer received for a charge of this service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The country-wide identifier of the Pix. Each end-to-end id is credited once.
    pub end_to_end_id: EndToEndId,
    /// The amount that the payer sent.
    pub amount: Money,
    /// The instant at which the acquirer received the Pix.
    pub paid_at: Timestamp,
    /// The receiving acquirer.
    pub acquirer: AcquirerName,
}

named! {
    /// The role of a payment for its charge.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PaymentRole {
        /// The payment settled the charge.
        Settles = "settles",
        /// Another payment settled the charge before, or the charge was in creation or abandoned.
        Extra = "extra",
        /// The charge was issued and not yet paid, and the payment was below the charge's amount.
        Short = "short",
    }
}

/// The reason why a payment, or a part of it, did not settle the charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnexpectedReason {
    /// The payment paid the charge and exceeded its amount.
    Overpaid,
    /// Another payment had settled the charge before.
    Duplicate,
    /// The charge was issued and not yet paid, and the payment was below the charge's amount.
    Underpaid,
    /// The charge was in creation or abandoned, so the payment could not settle the charge.
    Late,
}

impl UnexpectedReason {
    /// Returns the reason's name in the API.
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

/// Credited money that does not settle a charge: a surplus, or a whole payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnexpectedPayment {
    /// The Pix.
    pub end_to_end_id: EndToEndId,
    /// The amount that does not settle the charge: the surplus of an overpayment, or the whole amount of any other
    /// payment.
    pub amount: Money,
    /// The reason.
    pub reason: UnexpectedReason,
    /// The charge whose txid the Pix carried.
    pub charge: ChargeId,
    /// The instant at which the acquirer received the Pix.
    pub received_at: Timestamp,
}

/// A credited payment, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditedPayment {
    /// The Pix, as the acquirer recorded it.
    pub payment: Payment,
    /// The account of the charge.
    pub account: AccountId,
    /// The charge whose txid the Pix carried.
    pub charge: ChargeId,
    /// The payment's role for the charge.
    pub role: PaymentRole,
    /// The instant of the credit.
    pub credited_at: Timestamp,
    /// The part of this payment's refunds, completed or in flight, that does not count as a refund of the charge. The
    /// store computes this sum from the refunds.
    ///
    /// Read the charge before the payment. Each change of the sum also changes the charge's version, so a commit with
    /// an outdated sum fails with `Stale`.
    pub refunded_beyond: Money,
}
