//! A Pix payout: what was asked for, where it stands, and which step may follow.

mod state;
mod transitions;

#[cfg(test)]
mod table;

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

/// The least amount of a payout: R$ 0.01.
pub const MIN_AMOUNT: Money = Money::from_centavos(1);

/// What a merchant asked for. It never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayoutTerms {
    /// What the recipient is to get.
    pub amount: Money,
    /// What the service charges on top of it; fixed at creation.
    pub fee: Money,
    /// Where it goes.
    pub pix_key: PixKey,
    /// Who must own the key, if the merchant wants that checked.
    pub recipient_document: Option<Document>,
    /// Shown to the recipient.
    pub description: Option<Text>,
    /// The merchant's own name for it.
    pub external_id: Option<ExternalId>,
    /// How it came to be.
    pub origin: Origin,
}

impl PayoutTerms {
    /// All that leaves the balance: amount and fee.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn gross(&self) -> Result<Money, MoneyError> {
        self.amount.checked_add(self.fee)
    }
}

/// The owner of the key, as far as upstream tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipient {
    /// The name.
    pub name: Option<String>,
    /// CPF or CNPJ as upstream shows it: a CPF comes masked.
    pub document: Option<String>,
}

impl Recipient {
    /// What is known after `later` was told: nothing that was known is forgotten.
    #[must_use]
    pub fn or(self, later: Self) -> Self {
        Self { name: later.name.or(self.name), document: later.document.or(self.document) }
    }
}

/// A Pix payout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payout {
    /// Its public identifier.
    pub id: PayoutId,
    /// Whose it is.
    pub account: AccountId,
    /// What was asked for.
    pub terms: PayoutTerms,
    /// Who gets it, once upstream told.
    pub recipient: Recipient,
    /// What came back of it after its completion.
    pub returned: Money,
    /// Where it stands.
    pub state: PayoutState,
    /// When upstream is to be asked next, while its outcome is open.
    pub due_at: Option<Timestamp>,
    /// How often upstream was asked for its outcome in vain.
    pub attempts: u32,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// How often it was changed; the store checks it.
    pub version: i64,
}

impl Payout {
    /// A payout that is about to be sent to `acquirer`. Its money must be [held](Self::hold) in the same commit.
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

    /// Its name upstream.
    #[must_use]
    pub fn instruction_id(&self) -> InstructionId {
        InstructionId::of_payout(self.id)
    }

    /// Whether a reader may know of it.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
