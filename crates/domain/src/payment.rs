//! A Pix that arrived: the fact from the acquirer, and its role for the charge.

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::ids::{AccountId, ChargeId};
use crate::money::Money;

/// A Pix that an acquirer received for a charge of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The nationwide identifier of the Pix. Each is credited once.
    pub end_to_end_id: EndToEndId,
    /// The amount sent by the payer.
    pub amount: Money,
    /// The instant the acquirer received the Pix.
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
        /// The payment came in addition: a second one, or one for a charge that is no longer payable.
        Extra = "extra",
        /// The payment was below the charge's amount.
        Short = "short",
    }
}

/// The reason why a payment, or a part of it, was unexpected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnexpectedReason {
    /// The payment paid the charge and exceeded its amount.
    Overpaid,
    /// Another payment had settled the charge before.
    Duplicate,
    /// The payment was below the amount of an unpaid charge.
    Underpaid,
    /// The charge was abandoned and never visible.
    Late,
}

impl UnexpectedReason {
    /// Returns the name on the wire.
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
    /// The amount in excess: the surplus of an overpayment, the whole of any other payment.
    pub amount: Money,
    /// The reason.
    pub reason: UnexpectedReason,
    /// The charge whose txid the Pix carried.
    pub charge: ChargeId,
    /// The instant the acquirer received the Pix.
    pub received_at: Timestamp,
}

/// A credited payment as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditedPayment {
    /// The fact from the acquirer.
    pub payment: Payment,
    /// The owner of the money.
    pub account: AccountId,
    /// The charge whose txid it carried.
    pub charge: ChargeId,
    /// The payment's role for the charge.
    pub role: PaymentRole,
    /// The instant of the credit.
    pub credited_at: Timestamp,
    /// The sum of refunds, done or in flight, of the part beyond the charge's amount. The store computes the sum from
    /// the refunds. Each change of the sum also changes the charge's version. Read the charge before the payment: a
    /// commit with an outdated sum then fails as stale.
    pub refunded_beyond: Money,
}
