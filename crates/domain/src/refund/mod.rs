//! A refund of a payment of a charge, in full or in part. The Central Bank's term is *devolução*.

mod state;
mod transitions;

#[cfg(test)]
mod tests;

pub use state::{RefundState, RefundStatus};
pub use transitions::{NewRefund, RefundChange, RefundError, RefundStep, Refundable};

use jiff::{SignedDuration, Timestamp};

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, ChargeId, RefundId};
use crate::money::{Money, MoneyError};
use crate::text::Text;

/// The longest time from the receipt of a payment to the request for its refund: 90 days (API Pix 2.9.0, devolução).
pub const REFUND_PERIOD: SignedDuration = SignedDuration::from_hours(90 * 24);

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// The public identifier. The identifier at the acquirer is the same text without its prefix.
    pub id: RefundId,
    /// The account that pays for the refund.
    pub account: AccountId,
    /// The charge to which the refunded Pix was credited.
    pub charge: ChargeId,
    /// The refunded Pix.
    pub end_to_end_id: EndToEndId,
    /// The acquirer that received the Pix. Only this acquirer can return it.
    pub acquirer: AcquirerName,
    /// The refunded amount.
    pub amount: Money,
    /// The part of `amount` that counts as a refund of the charge. The rest ([`Refund::beyond`]) is money that did not
    /// settle the charge, for example the surplus of an overpayment.
    pub of_charge: Money,
    /// The merchant's reason. The payer sees it.
    pub reason: Option<Text>,
    /// The merchant's identifier of the refund.
    pub external_id: Option<ExternalId>,
    /// The state, with its data.
    pub state: RefundState,
    /// The instant of the next look-up at the acquirer. Set only in [`RefundState::Processing`].
    pub due_at: Option<Timestamp>,
    /// The number of look-ups that did not prove the outcome.
    pub attempts: u32,
    /// The instant of the request.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

impl Refund {
    /// Returns the part of the amount that does not count as a refund of the charge.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], impossible for stored refunds.
    pub fn beyond(&self) -> Result<Money, MoneyError> {
        self.amount.checked_sub(self.of_charge)
    }

    /// Returns whether the API shows the refund.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
