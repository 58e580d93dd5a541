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

/// The terms of a payout: the merchant's request, and the service's fee. The terms never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayoutTerms {
    /// The amount that the recipient receives.
    pub amount: Money,
    /// The service's fee, in addition to the amount. The fee is fixed when the payout is created.
    pub fee: Money,
    /// The Pix key of the recipient.
    pub pix_key: PixKey,
    /// The CPF or CNPJ that the recipient must have. `None` if the merchant does not request this check.
    pub recipient_document: Option<Document>,
    /// Free text that the recipient sees.
    pub description: Option<Text>,
    /// The merchant's identifier of the payout.
    pub external_id: Option<ExternalId>,
    /// The channel of the request: the API or the dashboard.
    pub origin: Origin,
}

impl PayoutTerms {
    /// Returns the amount plus the fee: the sum that [`Payout::hold`] debits from `available`.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] if the sum is out of range.
    pub fn gross(&self) -> Result<Money, MoneyError> {
        self.amount.checked_add(self.fee)
    }
}

/// The data of the person or company that has the Pix key, as the acquirer reports them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipient {
    /// The name of the person or company.
    pub name: Option<String>,
    /// The CNPJ, or the masked CPF, for example `***.456.789-**`.
    pub document: Option<String>,
}

impl Recipient {
    /// Returns the values of `later`. A value that `later` lacks is taken from `self`.
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
    /// The recipient. Its fields are `None` until the acquirer reports them.
    pub recipient: Recipient,
    /// The sum of the amounts that the recipient's institution returned after the completion.
    pub returned: Money,
    /// The state, with its data.
    pub state: PayoutState,
    /// The instant of the next look-up at the acquirer. Set only in [`PayoutState::Processing`].
    pub due_at: Option<Timestamp>,
    /// The number of look-ups that did not prove the outcome.
    pub attempts: u32,
    /// The instant of the request.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

impl Payout {
    /// Creates a payout that is not sent yet. The order will go to `acquirer`. The commit that stores the payout must
    /// contain the transfers of [`hold`](Self::hold).
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

    /// Returns the payout's identifier at the acquirer.
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
