//! A Pix charge: what was asked for, where it stands, and which step may follow.

mod refunds;
mod state;
mod transitions;

#[cfg(test)]
mod table;

pub use state::{ChargeState, ChargeStatus, Issued, Settlement};
pub use transitions::{ChargeError, Credit, Step};

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::document::Document;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, ChargeId};
use crate::money::{Money, MoneyError};
use crate::split::Split;
use crate::text::Text;
use crate::txid::Txid;
use crate::webhook::Postback;

/// The least amount of a charge: R$ 2.00.
pub const MIN_AMOUNT: Money = Money::from_centavos(200);
/// The shortest life of a charge, in seconds.
pub const MIN_EXPIRES_IN_S: u32 = 60;
/// The longest life of a charge, in seconds: one day.
pub const MAX_EXPIRES_IN_S: u32 = 86_400;
/// The life of a charge that names none, in seconds.
pub const DEFAULT_EXPIRES_IN_S: u32 = 3_600;

/// How the charge came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Over the API.
    Api,
    /// In the dashboard.
    Manual,
}

impl Origin {
    /// The word on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Manual => "manual",
        }
    }

    /// The origin of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Api, Self::Manual].into_iter().find(|origin| origin.as_str() == word)
    }
}

/// What a merchant asked for. It never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeTerms {
    /// What the payer is to pay.
    pub amount: Money,
    /// What the service keeps of it when it is paid; fixed at creation.
    pub fee: Money,
    /// Shown to the payer.
    pub description: Option<Text>,
    /// As the merchant wrote it.
    pub payer_name: Option<Text>,
    /// As the merchant wrote it.
    pub payer_document: Option<Text>,
    /// Seconds from its issue until it can no longer be paid.
    pub expires_in_s: u32,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
    /// Where events of this charge go besides the subscribed endpoints.
    pub postback: Option<Postback>,
    /// Who shares in its net value.
    pub split: Split,
    /// How it came to be.
    pub origin: Origin,
}

impl ChargeTerms {
    /// The payer as an acquirer takes it: both halves, or neither.
    ///
    /// The document is free text for the merchant; it goes upstream with the name only when it is a valid CPF or CNPJ.
    #[must_use]
    pub fn payer(&self) -> Option<(Document, &str)> {
        let name = self.payer_name.as_ref()?;
        let document = Document::parse(self.payer_document.as_ref()?.as_str()).ok()?;
        Some((document, name.as_str()))
    }
}

/// What of a charge goes back to its payer; both together never exceed its amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefundTotals {
    /// On its way.
    pub in_flight: Money,
    /// Arrived.
    pub done: Money,
}

/// A Pix charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Its public identifier.
    pub id: ChargeId,
    /// Whose it is.
    pub account: AccountId,
    /// Its name upstream, derived from `id`.
    pub txid: Txid,
    /// What was asked for.
    pub terms: ChargeTerms,
    /// Where it stands.
    pub state: ChargeState,
    /// What of it goes back, or went back.
    pub refunds: RefundTotals,
    /// How many infractions on it are open; while there is one, nothing of it can be refunded.
    pub open_infractions: u32,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// How often it was changed; the store checks it.
    pub version: i64,
}

impl Charge {
    /// A charge that is about to be sent to `acquirer`.
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

    /// What of it can still be refunded.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`], which no charge of the store can cause.
    pub fn refundable(&self) -> Result<Money, MoneyError> {
        self.terms.amount.checked_sub(self.refunds.in_flight)?.checked_sub(self.refunds.done)
    }

    /// Whether a reader may know of it.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
