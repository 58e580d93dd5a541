//! A crypto deposit: its terms, state and steps. A payer sends coins to the processor, the company that holds coins for
//! the service. The merchant's account is credited in BRL.

mod payment;
mod receive;
mod state;
mod transitions;

#[cfg(test)]
mod tests;

pub use payment::{ArrivedCoins, DepositPayment, PaymentResolution, PaymentReview, PaymentState};
pub use receive::{Arrival, LATE_CREDIT_WINDOW, ReceiveError, Received, Resolved};
pub use state::{DepositState, DepositStatus, Issued, Resolution};
pub use transitions::{DepositError, DepositStep};

use jiff::Timestamp;

use super::quote::{Prices, Quote};
use super::{CryptoAmount, Currency, Rate};
use crate::acquirer_name::AcquirerName;
use crate::charge::Origin;
use crate::external_id::ExternalId;
use crate::fee::FeeRule;
use crate::ids::{AccountId, CryptoDepositId, CryptoQuoteId};
use crate::merchant::webhook::Postback;
use crate::money::{Money, MoneyError};
use crate::text::Text;

/// The terms of a deposit: the merchant's request. The terms never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepositTerms {
    /// The requested amount in BRL, before the fee.
    pub amount: Money,
    /// The currency of the payer's coins.
    pub currency: Currency,
    /// Free text for the merchant's own use.
    pub description: Option<Text>,
    /// The merchant's identifier of the deposit.
    pub external_id: Option<ExternalId>,
    /// An endpoint that receives the events of this deposit, in addition to the subscribed endpoints.
    pub postback: Option<Postback>,
    /// The origin of the request.
    pub origin: Origin,
}

/// The price of a deposit. Only [`Deposit::reopen`] changes the price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepositPrice {
    /// The quote that the deposit used.
    pub quote: CryptoQuoteId,
    /// The BRL for one coin. Coins are credited at this rate, unless an operator sets the amount of the credit.
    pub rate: Rate,
    /// The rule of the fee. The fee is computed from the value of the coins that arrive.
    pub fee_rule: FeeRule,
    /// The requested coins.
    pub coins: CryptoAmount,
}

impl DepositPrice {
    /// Returns the price of a quote.
    #[must_use]
    pub fn of(quote: &Quote) -> Self {
        let Prices { rate, coins, fee_rule } = quote.prices.clone();
        Self { quote: quote.id, rate, fee_rule, coins }
    }
}

/// The sums of all credits of a deposit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credited {
    /// The coins that were credited at the deposit's rate.
    pub coins: CryptoAmount,
    /// The credited BRL, before the fee.
    pub gross: Money,
    /// The fee of all credits.
    pub fee: Money,
}

/// A crypto deposit: its terms, its price and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deposit {
    /// The public identifier.
    pub id: CryptoDepositId,
    /// The owning account.
    pub account: AccountId,
    /// The terms of the request.
    pub terms: DepositTerms,
    /// The price, from the quote.
    pub price: DepositPrice,
    /// The configured name of the processor.
    pub processor: AcquirerName,
    /// The state, with its data.
    pub state: DepositState,
    /// The sums of all credits. A credit whose amount an operator sets adds BRL but no coins.
    pub credited: Credited,
    /// The comparison of the credited coins with the requested coins. Only coins that were credited at the rate count.
    ///
    /// - Before the first credit, the value is `None` until a payment goes to review because it is too late (`Late`) or
    ///   has too many coins (`Overpaid`). The first such payment sets the value. The value stays if an operator
    ///   dismisses the payment. The first credit replaces the value.
    /// - If a credited payment is late and no earlier credit set a value, the value is `Late`. Further credits do not
    ///   change `Late`.
    /// - If an operator set the amount of all credits, no coins can be compared. The value is then `None`, or `Late` or
    ///   `Overpaid` if a credited payment was late or had too many coins.
    pub resolution: Option<Resolution>,
    /// The instant at which this service first recorded that a payment is confirmed on the chain.
    pub confirmed_at: Option<Timestamp>,
    /// The hash of a payment's transaction on the chain. `None` until the processor reports a hash.
    pub tx_hash: Option<String>,
    /// The instant of the next look-up at the processor. `None` if no look-up follows.
    pub due_at: Option<Timestamp>,
    /// The number of look-ups without a change.
    pub attempts: u32,
    /// The instant of the request.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

impl Deposit {
    /// Creates a deposit whose address will be requested.
    #[must_use]
    pub const fn open(
        (id, account): (CryptoDepositId, AccountId),
        terms: DepositTerms,
        price: DepositPrice,
        processor: AcquirerName,
        at: Timestamp,
    ) -> Self {
        let credited = Credited { coins: CryptoAmount::zero(terms.currency), gross: Money::ZERO, fee: Money::ZERO };
        Self {
            id,
            account,
            terms,
            price,
            processor,
            state: DepositState::Creating,
            credited,
            resolution: None,
            confirmed_at: None,
            tx_hash: None,
            due_at: None,
            attempts: 0,
            created_at: at,
            version: 0,
        }
    }

    /// Returns the fee of the credited money. Before the first credit, returns the fee of the deposit's amount.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn fee(&self) -> Result<Money, MoneyError> {
        if self.is_credited() { Ok(self.credited.fee) } else { self.price.fee_rule.fee(self.terms.amount) }
    }

    /// Returns the credited BRL after the fee. Before the first credit, returns the deposit's amount after the fee.
    ///
    /// # Errors
    /// [`MoneyError::OutOfRange`].
    pub fn net_amount(&self) -> Result<Money, MoneyError> {
        let gross = if self.is_credited() { self.credited.gross } else { self.terms.amount };
        gross.checked_sub(self.fee()?)
    }

    /// Returns whether a payment was credited.
    const fn is_credited(&self) -> bool {
        matches!(self.state, DepositState::Completed { .. } | DepositState::Underpaid { .. })
    }

    /// Returns the payment URI of the deposit. Bitcoin and Litecoin have the URI of BIP 21. For the other currencies,
    /// wallets have no common URI, so the result is the address. Returns `None` if the deposit has no address.
    #[must_use]
    pub fn pay_uri(&self) -> Option<String> {
        let (address, coins) = (&self.state.issued()?.address, self.price.coins);
        Some(match coins.currency() {
            Currency::Btc => format!("bitcoin:{address}?amount={coins}"),
            Currency::Ltc => format!("litecoin:{address}?amount={coins}"),
            Currency::Trx | Currency::UsdtBsc | Currency::UsdtErc20 => address.clone(),
        })
    }

    /// Returns whether the API shows the deposit.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        self.state.status().is_visible()
    }
}
