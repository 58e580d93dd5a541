//! A Pix charge: its terms, state and steps.

mod refunds;
mod state;
mod transitions;

#[cfg(test)]
mod tests;

pub use state::{ChargeState, ChargeStatus, Issued, Settlement};
pub use transitions::{ChargeError, Credit, Step};

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::document::Document;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, ChargeId};
use crate::merchant::webhook::Postback;
use crate::money::{Money, MoneyError};
use crate::split::Split;
use crate::text::Text;
use crate::txid::Txid;

/// The minimum amount of a charge: R$ 2.00.
pub const MIN_AMOUNT: Money = Money::from_centavos(200);
/// The shortest time until a charge expires, in seconds.
pub const MIN_EXPIRES_IN_S: u32 = 60;
/// The longest time until a charge expires, in seconds: one day.
pub const MAX_EXPIRES_IN_S: u32 = 86_400;
/// The default time until a charge expires, in seconds: one hour.
pub const DEFAULT_EXPIRES_IN_S: u32 = 3_600;

named! {
    /// The channel through which a charge was requested.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Origin {
        /// The API.
        Api = "api",
        /// The dashboard.
        Manual = "manual",
    }
}

/// The terms of a charge: the merchant's request, and the service's fee. The terms never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeTerms {
    /// The amount that the payer must pay.
    pub amount: Money,
    /// The service's fee, fixed when the charge is created.
    pub fee: Money,
    /// Free text that the payer sees.
    pub description: Option<Text>,
    /// The payer's name, as the merchant wrote it.
    pub payer_name: Option<Text>,
    /// The payer's document, as the merchant wrote it.
    pub payer_document: Option<Text>,
    /// The seconds from the issue of the charge to its expiry.
    pub expires_in_s: u32,
    /// The merchant's identifier of the charge.
    pub external_id: Option<ExternalId>,
    /// An endpoint that receives the events of this charge, in addition to the subscribed endpoints.
    pub postback: Option<Postback>,
    /// The shares in the net amount, which is `amount` less `fee`.
    pub split: Split,
    /// The origin of the request.
    pub origin: Origin,
}

impl ChargeTerms {
    /// Returns the payer's document and name, as the acquirer receives them.
    ///
    /// Returns `None` if the document or the name is missing. The merchant can write any text as the document, so also
    /// returns `None` if the document is not a valid CPF or CNPJ.
    #[must_use]
    pub fn payer(&self) -> Option<(Document, &str)> {
        let name = self.payer_name.as_ref()?;
        let document = Document::parse(self.payer_document.as_ref()?.as_str()).ok()?;
        Some((document, name.as_str()))
    }
}

/// The parts of a charge's amount that go back to its payer. Their sum never exceeds the charge's amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefundTotals {
    /// The sum of the refunds whose outcome is still open.
    pub in_flight: Money,
    /// The sum that completed refunds and lost infractions returned.
    pub done: Money,
}

/// A Pix charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The public identifier.
    pub id: ChargeId,
    /// The owning account.
    pub account: AccountId,
    /// The identifier at the acquirer, derived from `id`.
    pub txid: Txid,
    /// The terms of the request.
    pub terms: ChargeTerms,
    /// The state, with its data.
    pub state: ChargeState,
    /// The amounts of the charge's refunds and lost infractions.
    pub refunds: RefundTotals,
    /// The number of open infractions on the charge. While there is one, the charge cannot be refunded.
    pub open_infractions: u32,
    /// The instant of the request.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

impl Charge {
    /// Creates a charge that will be sent to `acquirer`.
    #[must_use]
    pub fn open(id: ChargeId, account: AccountId, terms: ChargeTerms, acquirer: AcquirerName, at: Timestamp) -> Self {
        Self {
            id,
            account,
            txid: Txid::of_charge(id),
            terms,
            state: ChargeState::Creating { acquirer },
            refunds: RefundTotals::default(),
            open_infractions: 0,
            created_at: at,
            version: 0,
        }
    }

    /// Returns the amount that can still be refunded.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], impossible for stored charges.
    pub fn refundable(&self) -> Result<Money, MoneyError> {
        self.terms.amount.checked_sub(self.refunds.in_flight)?.checked_sub(self.refunds.done)
    }

    /// Returns whether the API shows the charge.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
