//! Orders of deposits, and deposits in the processor's records.

use cais_domain::crypto::deposit::ArrivedCoins;
use cais_domain::crypto::{Address, CryptoAmount, ProcessorId};
use cais_domain::ids::CryptoDepositId;
use jiff::Timestamp;

/// The order of a deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CryptoDepositOrder {
    /// Our identifier, which the processor shows in its records and in callbacks.
    pub id: CryptoDepositId,
    /// The requested coins.
    pub amount: CryptoAmount,
}

/// The status of a deposit upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpstreamDepositStatus {
    /// No payment is visible.
    Waiting,
    /// The chain shows a payment without enough confirmations.
    Confirming,
    /// The payment has enough confirmations.
    Confirmed,
    /// The processor moves the coins to our balance.
    Sending,
    /// Less than the ordered amount arrived and is in our balance. An operator may still make it `Finished`.
    PartiallyPaid,
    /// The coins are in our balance.
    Finished,
    /// The processor reports an error.
    Failed,
    /// The coins were returned to the payer.
    Refunded,
    /// The payment period is over. Coins may arrive later.
    Expired,
    /// An unknown status. The deposit counts as unfinished.
    Unknown,
}

/// A deposit in the processor's records. Each later payment to its address is a deposit too, with a parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamDeposit {
    /// The processor's identifier.
    pub id: ProcessorId,
    /// The first payment to the same address, if this one is a later payment.
    pub parent: Option<ProcessorId>,
    /// The later payments to the same address that this record names.
    pub later: Vec<ProcessorId>,
    /// Our deposit; `None` for a payment of another system, and for later payments without our identifier.
    pub order: Option<CryptoDepositId>,
    /// The status.
    pub status: UpstreamDepositStatus,
    /// The address, if valid for a supported currency.
    pub address: Option<Address>,
    /// The memo that the payer must add, for currencies that need one.
    pub extra_id: Option<String>,
    /// The requested coins, if reported in a supported currency.
    pub asked: Option<CryptoAmount>,
    /// The coins that arrived, rounded down to the smallest unit; `None` if not reported.
    pub received: Option<ArrivedCoins>,
    /// The transaction on the chain, once known.
    pub tx_hash: Option<String>,
    /// The instant of creation, if reported.
    pub created_at: Option<Timestamp>,
    /// The instant of the last change, if reported.
    pub updated_at: Option<Timestamp>,
}

impl UpstreamDeposit {
    /// Returns whether coins arrived. An unreadable amount of another currency counts as coins.
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
