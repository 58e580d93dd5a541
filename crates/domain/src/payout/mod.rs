//! A Pix payout: its terms, state and steps.

mod state;
mod transitions;

#[cfg(test)]
mod tests;

pub use state::{PayoutState, PayoutStatus, Sent};
pub use transitions::{PayoutError, PayoutStep};

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::charge::Origin;
use crate::document::Document;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, PayoutId};
use crate::instruction_id::InstructionId;
use crate::money::{Money, MoneyError};
use crate::pix_key::PixKey;
use crate::text::Text;

/// The minimum amount of a payout: R$ 0.01.
pub const MIN_AMOUNT: Money = Money::from_centavos(1);

/// The merchant's request. The terms of a payout never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayoutTerms {
    /// The amount that the recipient receives.
    pub amount: Money,
    /// The service's fee, in addition to the amount. The fee is fixed when the payout is created.
    pub fee: Money,
    /// The recipient's key.
    pub pix_key: PixKey,
    /// The document that the owner of the key must have, if the merchant requires this check.
    pub recipient_document: Option<Document>,
    /// Free text that the recipient sees.
    pub description: Option<Text>,
    /// The merchant's identifier of the payout.
    pub external_id: Option<ExternalId>,
    /// The origin of the request.
    pub origin: Origin,
}

impl PayoutTerms {
    /// Returns the amount plus the fee. This sum leaves the account's balance.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn gross(&self) -> Result<Money, MoneyError> {
        self.amount.checked_add(self.fee)
    }
}

/// The owner of the key, as the acquirer reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipient {
    /// The name of the owner.
    pub name: Option<String>,
    /// The CPF or CNPJ, as the acquirer reports it. A CPF is masked.
    pub document: Option<String>,
}

impl Recipient {
    /// Returns the values of `later`. If `later` lacks a value, the value of `self` is kept.
    #[must_use]
    pub fn or(self, later: Self) -> Self {
        Self { name: later.name.or(self.name), document: later.document.or(self.document) }
    }
}

/// A Pix payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payout {
    /// The public identifier.
    pub id: PayoutId,
    /// The owning account.
    pub account: AccountId,
    /// The terms of the request.
    pub terms: PayoutTerms,
    /// The recipient, after the acquirer has reported it.
    pub recipient: Recipient,
    /// The amount that was returned after the completion.
    pub returned: Money,
    /// The state, with its data.
    pub state: PayoutState,
    /// The instant of the next look-up at the acquirer. The value is set only while the outcome is unknown.
    pub due_at: Option<Timestamp>,
    /// The number of look-ups without a final outcome.
    pub attempts: u32,
    /// The instant of the request.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

impl Payout {
    /// Creates a payout that will be sent to `acquirer`. The same commit must [hold](Self::hold) its money.
    #[must_use]
    pub fn open(id: PayoutId, account: AccountId, terms: PayoutTerms, acquirer: AcquirerName, at: Timestamp) -> Self {
        Self {
            id,
            account,
            terms,
            recipient: Recipient::default(),
            returned: Money::ZERO,
            state: PayoutState::Pending { acquirer },
            due_at: None,
            attempts: 0,
            created_at: at,
            version: 0,
        }
    }

    /// Returns the identifier at the acquirer.
    #[must_use]
    pub fn instruction_id(&self) -> InstructionId {
        InstructionId::of_payout(self.id)
    }

    /// Returns whether the API shows the payout.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
