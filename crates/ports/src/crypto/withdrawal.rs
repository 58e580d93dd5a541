//! Requests to create withdrawals, and withdrawals as the processor records them.

use cais_domain::crypto::{Address, CryptoAmount, ProcessorId};
use cais_domain::ids::CryptoWithdrawalId;
use jiff::Timestamp;

/// A request to create a withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CryptoWithdrawalOrder {
    /// Our identifier. The processor's records contain it.
    pub id: CryptoWithdrawalId,
    /// The coins to send, with at most [`cais_domain::crypto::Currency::withdrawal_decimals`] decimals.
    pub amount: CryptoAmount,
    /// The recipient's address. Its currency is the currency of `amount`.
    pub address: Address,
}

/// The status of a withdrawal at the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpstreamWithdrawalStatus {
    /// The processor waits for the verification. Without it, the processor rejects the withdrawal after an hour.
    Unverified,
    /// The processor sends the coins, or the status is unknown.
    Processing,
    /// The coins were sent.
    Finished,
    /// The processor reports an error, but may still send the coins.
    Failed,
    /// The processor will never send the coins.
    Rejected,
}

/// A withdrawal, as the processor records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamWithdrawal {
    /// The processor's batch. A batch of ours contains only one withdrawal.
    pub batch: ProcessorId,
    /// The processor's identifier within the batch.
    pub id: ProcessorId,
    /// The id of our withdrawal, if the record contains it.
    pub order: Option<CryptoWithdrawalId>,
    /// The coins to send.
    pub amount: CryptoAmount,
    /// The recipient's address.
    pub address: Address,
    /// The status.
    pub status: UpstreamWithdrawalStatus,
    /// The processor's reason of a failure.
    pub error: Option<String>,
    /// The fee of the network, if reported.
    pub network_fee: Option<CryptoAmount>,
    /// The transaction on the chain, if it is known.
    pub tx_hash: Option<String>,
    /// The instant of creation, if reported.
    pub created_at: Option<Timestamp>,
}
