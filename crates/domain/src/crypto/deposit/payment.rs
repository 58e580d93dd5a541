//! A payment to the address of a deposit, as the processor records it. Further payments to the same address have
//! identifiers of their own.

use jiff::Timestamp;

use super::{Deposit, Resolution};
use crate::acquirer_name::AcquirerName;
use crate::crypto::{CryptoAmount, ProcessorId};
use crate::ids::{AccountId, CryptoDepositId};
use crate::money::Money;

/// The coins of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrivedCoins {
    /// Coins of a supported currency.
    Supported(CryptoAmount),
    /// Coins of another currency.
    Unsupported {
        /// The processor's code of the currency.
        currency: String,
        /// The amount, as the processor wrote it.
        amount: String,
    },
}

named! {
    /// The reason why an operator must decide about a payment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum PaymentReview {
        /// The coins are of another currency than the deposit.
        WrongAsset = "wrong_asset",
        /// The payment arrived more than [`super::LATE_CREDIT_WINDOW`] after the end of the payment period.
        TooLate = "too_late",
        /// With this payment, more than twice the requested coins would be credited.
        TooMany = "too_many_coins",
        /// The deposit was never issued or was refunded, or the payment was dismissed before.
        UnexpectedState = "unexpected_state",
        /// The processor now shows fewer coins than were credited.
        FewerCoins = "fewer_coins",
        /// The processor shows coins but reports an error or an expiry, so it may not have the coins. The coins are
        /// credited when the processor reports the payment as finished.
        NotFinished = "not_finished",
    }
}

/// The state of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentState {
    /// The value of the coins was credited.
    Credited,
    /// An operator must decide. Until then the coins are not credited, except a part that was credited before. With
    /// [`PaymentReview::FewerCoins`], more coins are credited than the processor now shows.
    Review(PaymentReview),
    /// An operator ended the review for this reason, and credited no further money.
    Dismissed(PaymentReview),
}

/// A payment to the address of a deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepositPayment {
    /// The processor's identifier.
    pub id: ProcessorId,
    /// The owning account.
    pub account: AccountId,
    /// The deposit whose address received the payment.
    pub deposit: CryptoDepositId,
    /// The configured name of the processor.
    pub processor: AcquirerName,
    /// The coins that the processor shows.
    pub coins: ArrivedCoins,
    /// The hash of the transaction on the chain, if the processor reported it.
    pub tx_hash: Option<String>,
    /// The BRL that was credited for the payment, before the fee.
    pub gross: Money,
    /// The fee of the credit.
    pub fee: Money,
    /// The state.
    pub state: PaymentState,
    /// The instant at which the first coins of the payment count as arrived.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

named! {
    /// The comparison of one payment with the requested coins and the payment period of its deposit. A payment that
    /// waits for an operator has a value too.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum PaymentResolution {
        /// The payment has the requested coins, or fewer coins with the same value in BRL.
        Exact = "exact",
        /// The payment has less than the requested value.
        Underpaid = "underpaid",
        /// The payment has more coins than requested.
        Overpaid = "overpaid",
        /// The payment arrived after the payment period.
        Late = "late",
        /// The payment is a further one to the same address, within the payment period.
        Repeated = "repeated",
        /// The coins are of another currency than the deposit.
        WrongAsset = "wrong_asset",
    }
}

impl Deposit {
    /// Compares one payment with the requested coins and the payment period of the deposit.
    #[must_use]
    pub fn resolution_of(&self, payment: &DepositPayment) -> PaymentResolution {
        let coins = match &payment.coins {
            ArrivedCoins::Supported(coins) if coins.currency() == self.terms.currency => *coins,
            ArrivedCoins::Supported(_) | ArrivedCoins::Unsupported { .. } => return PaymentResolution::WrongAsset,
        };
        let issued = self.state.issued();
        if issued.is_some_and(|issued| payment.created_at > issued.expires_at) {
            return PaymentResolution::Late;
        }
        if issued.is_some_and(|issued| payment.id != issued.payment) {
            return PaymentResolution::Repeated;
        }
        match self.by_coins(coins) {
            Ok(Resolution::Exact) => PaymentResolution::Exact,
            Ok(Resolution::Underpaid) => PaymentResolution::Underpaid,
            Ok(Resolution::Late) => PaymentResolution::Late,
            // No error is possible here: the currencies are equal, and only fewer coins than requested are valued.
            Ok(Resolution::Overpaid) | Err(_) => PaymentResolution::Overpaid,
        }
    }
}

impl DepositPayment {
    /// Returns the resolution that the deposit shows because this payment waits for an operator. Returns `None` if the
    /// payment does not wait, or if no resolution corresponds to the reason of its review.
    #[must_use]
    pub const fn resolution_in_review(&self) -> Option<Resolution> {
        match self.state {
            PaymentState::Review(PaymentReview::TooLate) => Some(Resolution::Late),
            PaymentState::Review(PaymentReview::TooMany) => Some(Resolution::Overpaid),
            PaymentState::Review(
                PaymentReview::WrongAsset
                | PaymentReview::UnexpectedState
                | PaymentReview::FewerCoins
                | PaymentReview::NotFinished,
            )
            | PaymentState::Credited
            | PaymentState::Dismissed(_) => None,
        }
    }
}

impl PaymentState {
    /// Returns the state's name in the store, without the reason of the review.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Credited => "credited",
            Self::Review(_) => "review",
            Self::Dismissed(_) => "dismissed",
        }
    }
}
