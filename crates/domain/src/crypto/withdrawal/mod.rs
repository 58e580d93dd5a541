//! A crypto withdrawal: its terms, state and steps. An amount in BRL is debited from the merchant's account, and the
//! processor sends coins to an address.

mod state;
mod transitions;

#[cfg(test)]
mod tests;

pub use state::{WithdrawalSent, WithdrawalState, WithdrawalStatus};
pub use transitions::{WithdrawalError, WithdrawalStep};

use jiff::Timestamp;

use super::quote::{Prices, Quote};
use super::{Address, CryptoAmount, Rate};
use crate::acquirer_name::AcquirerName;
use crate::charge::Origin;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, CryptoQuoteId, CryptoWithdrawalId};
use crate::money::{Money, MoneyError};
use crate::text::Text;

/// The merchant's request. The terms of a withdrawal never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawalTerms {
    /// The amount in BRL that is converted to coins. The fee is added to the amount.
    pub amount: Money,
    /// The recipient's address, which decides the currency.
    pub address: Address,
    /// Free text for the merchant's own use.
    pub description: Option<Text>,
    /// The merchant's identifier of the withdrawal.
    pub external_id: Option<ExternalId>,
    /// The channel of the request: the API or the dashboard.
    pub origin: Origin,
}

/// The price of a withdrawal. The price changes only if an abandoned withdrawal is reopened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawalPrice {
    /// The quote from which the price was copied.
    pub quote: CryptoQuoteId,
    /// The price of one coin in BRL.
    pub rate: Rate,
    /// The service's fee, in addition to the amount.
    pub fee: Money,
    /// The coins to send.
    pub coins: CryptoAmount,
}

impl WithdrawalPrice {
    /// Copies the price of a withdrawal from a quote.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] if the fee is out of range.
    pub fn of(quote: &Quote) -> Result<Self, MoneyError> {
        let Prices { rate, coins, .. } = &quote.prices;
        Ok(Self { quote: quote.id, rate: rate.clone(), fee: quote.fee()?, coins: *coins })
    }
}

/// A crypto withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// The public identifier.
    pub id: CryptoWithdrawalId,
    /// The owning account.
    pub account: AccountId,
    /// The terms of the request.
    pub terms: WithdrawalTerms,
    /// The price, from the quote.
    pub price: WithdrawalPrice,
    /// The processor. A withdrawal never moves to another processor.
    pub processor: AcquirerName,
    /// The state, with its data.
    pub state: WithdrawalState,
    /// The fee of the blockchain network. `None` until the processor reports the fee.
    pub network_fee: Option<CryptoAmount>,
    /// The hash of the transaction on the chain. `None` until the processor reports the hash.
    pub tx_hash: Option<String>,
    /// The instant of the next look-up at the processor. Set only in [`WithdrawalState::Processing`].
    pub due_at: Option<Timestamp>,
    /// The number of look-ups without a final outcome.
    pub attempts: u32,
    /// The instant of the request.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

impl Withdrawal {
    /// Creates a withdrawal that is not sent yet. The commit that stores the withdrawal must contain the transfers of
    /// [`hold`](Self::hold).
    #[must_use]
    pub const fn open(
        (id, account): (CryptoWithdrawalId, AccountId),
        terms: WithdrawalTerms,
        price: WithdrawalPrice,
        processor: AcquirerName,
        at: Timestamp,
    ) -> Self {
        Self {
            id,
            account,
            terms,
            price,
            processor,
            state: WithdrawalState::Pending,
            network_fee: None,
            tx_hash: None,
            due_at: None,
            attempts: 0,
            created_at: at,
            version: 0,
        }
    }

    /// Returns the amount plus the fee: the sum that [`hold`](Self::hold) debits from `available`.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`] if the sum is out of range.
    pub fn gross(&self) -> Result<Money, MoneyError> {
        self.terms.amount.checked_add(self.price.fee)
    }

    /// Returns whether the API shows the withdrawal.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
