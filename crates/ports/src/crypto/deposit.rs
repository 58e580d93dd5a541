//! Requests to create deposits, and deposits as the processor records them.

use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::{Address, CryptoAmount, ProcessorId};
use cais_domain::ids::CryptoDepositId;
use jiff::Timestamp;

/// A request to create a deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CryptoDepositOrder {
    /// Our identifier. The processor's records and callbacks contain it.
    pub id: CryptoDepositId,
    /// The requested coins.
    pub amount: CryptoAmount,
}

/// The status of a deposit at the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpstreamDepositStatus {
    /// The processor shows no payment.
    Waiting,
    /// A payment was seen on the chain, but does not have enough confirmations yet.
    Confirming,
    /// The payment has enough confirmations.
    Confirmed,
    /// The processor transfers the coins to our balance.
    Sending,
    /// Fewer coins than requested arrived, and are in our balance. The processor's operator may still change the status
    /// to `Finished`.
    PartiallyPaid,
    /// The coins are in our balance.
    Finished,
    /// The processor reports an error.
    Failed,
    /// The coins were returned to the payer.
    Refunded,
    /// The payment period is over. Coins may arrive later.
    Expired,
    /// A status that this service does not know. The deposit counts as unfinished.
    Unknown,
}

/// A deposit, as the processor records it. The processor records each later payment to the same address as a further
/// deposit with a `parent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamDeposit {
    /// The processor's identifier.
    pub id: ProcessorId,
    /// The id of the first payment to the same address, if this one is a later payment.
    pub parent: Option<ProcessorId>,
    /// The ids of the later payments to the same address, as this record lists them.
    pub later: Vec<ProcessorId>,
    /// The id of our deposit. `None` for a payment of another system, and for a later payment without our identifier.
    pub order: Option<CryptoDepositId>,
    /// The status.
    pub status: UpstreamDepositStatus,
    /// The address, if it is valid for a supported currency.
    pub address: Option<Address>,
    /// The memo that the payer must add, if the currency needs one.
    pub extra_id: Option<String>,
    /// The requested coins, if the record has them in a supported currency.
    pub asked: Option<CryptoAmount>,
    /// The coins that arrived, rounded down to the smallest unit. `None` if the record does not contain them.
    pub received: Option<ArrivedCoins>,
    /// The transaction on the chain, if it is known.
    pub tx_hash: Option<String>,
    /// The instant of creation, if reported.
    pub created_at: Option<Timestamp>,
    /// The instant of the last change, if reported.
    pub updated_at: Option<Timestamp>,
}

impl UpstreamDeposit {
    /// Returns whether coins arrived. The amount of an unsupported currency is empty if it cannot be read; the result
    /// is then `true`.
    #[must_use]
    pub fn has_coins(&self) -> bool {
        match &self.received {
            None => false,
            Some(ArrivedCoins::Supported(coins)) => !coins.is_zero(),
            Some(ArrivedCoins::Unsupported { amount, .. }) => {
                amount.is_empty() || !amount.trim_matches(['0', '.']).is_empty()
            }
        }
    }
}
