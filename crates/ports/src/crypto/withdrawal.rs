//! Orders of withdrawals, and withdrawals in the processor's records.

use cais_domain::crypto::{Address, CryptoAmount, ProcessorId};
use cais_domain::ids::CryptoWithdrawalId;
use jiff::Timestamp;

/// The order of a withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CryptoWithdrawalOrder {
    /// Our identifier, which the processor shows in its records.
    pub id: CryptoWithdrawalId,
    /// The coins to send, with at most the decimals of withdrawals.
    pub amount: CryptoAmount,
    /// The recipient's address, of the currency of the amount.
    pub address: Address,
}

/// The status of a withdrawal upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpstreamWithdrawalStatus {
    /// The processor waits for the verification, and rejects the withdrawal without one.
    Unverified,
    /// The processor sends the coins, or the status is unknown.
    Processing,
    /// The coins are sent.
    Finished,
    /// The processor reports an error, and may still send the coins.
    Failed,
    /// The processor will never send the coins.
    Rejected,
}

/// A withdrawal in the processor's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamWithdrawal {
    /// The batch, which has only this withdrawal.
    pub batch: ProcessorId,
    /// The processor's identifier within the batch.
    pub id: ProcessorId,
    /// Our withdrawal, if the record shows our identifier.
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
    /// The transaction on the chain, once known.
    pub tx_hash: Option<String>,
    /// The instant of creation, if reported.
    pub created_at: Option<Timestamp>,
}
