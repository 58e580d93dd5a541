//! A refund of a payment of a charge, in full or in part: a devolução of its Pix.

mod state;
mod transitions;

#[cfg(test)]
mod table;

pub use state::{RefundState, RefundStatus};
pub use transitions::{NewRefund, RefundChange, RefundError, RefundStep, Refundable};

use jiff::{SignedDuration, Timestamp};

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, ChargeId, RefundId};
use crate::money::{Money, MoneyError};
use crate::text::Text;

/// How long after its settlement a Pix can be returned: 90 days (API Pix 2.9.0, devolução).
pub const WITHIN: SignedDuration = SignedDuration::from_hours(90 * 24);

/// A refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Its public identifier; without its prefix, its name upstream.
    pub id: RefundId,
    /// Who pays it.
    pub account: AccountId,
    /// What is refunded.
    pub charge: ChargeId,
    /// The Pix that goes back.
    pub end_to_end_id: EndToEndId,
    /// Who received that Pix, and returns it.
    pub acquirer: AcquirerName,
    /// How much of it.
    pub amount: Money,
    /// The part of the amount that counts as refunded of the charge. The rest was paid beyond the charge's amount.
    pub of_charge: Money,
    /// Why, as the merchant wrote it; shown to the payer.
    pub reason: Option<Text>,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
    /// Where it stands.
    pub state: RefundState,
    /// When upstream is to be asked next, while its outcome is open.
    pub due_at: Option<Timestamp>,
    /// How often upstream was asked for its outcome in vain.
    pub attempts: u32,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// How often it was changed; the store checks it.
    pub version: i64,
}

impl Refund {
    /// The part of the amount that was paid beyond the charge's amount.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], which no refund of the store can cause.
    pub fn beyond(&self) -> Result<Money, MoneyError> {
        self.amount.checked_sub(self.of_charge)
    }

    /// Whether a reader may know of it.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
