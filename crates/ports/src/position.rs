//! The read positions of acquirers' lists.

use std::fmt;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use jiff::Timestamp;

use crate::queries::QueryError;

/// A list of an acquirer, with its own position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UpstreamList {
    /// Infractions. Every infraction that began before the position was read once.
    Infractions,
    /// Received Pix. Every Pix received before the position was compared.
    Received,
    /// Sent Pix. Every Pix sent before the position was compared.
    Sent,
    /// Sent Pix again, for their returns. The position cycles from the oldest returnable payout up to now.
    Returns,
    /// Payments at a crypto processor. Every payment created before the position was compared.
    CryptoDeposits,
    /// Withdrawals at a crypto processor. Every withdrawal created before the position was compared.
    CryptoWithdrawals,
}

impl UpstreamList {
    /// Every list.
    pub const ALL: [Self; 6] =
        [Self::Infractions, Self::Received, Self::Sent, Self::Returns, Self::CryptoDeposits, Self::CryptoWithdrawals];

    /// Returns the name in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Infractions => "infractions",
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Returns => "returns",
            Self::CryptoDeposits => "crypto_deposits",
            Self::CryptoWithdrawals => "crypto_withdrawals",
        }
    }
}

impl fmt::Display for UpstreamList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The read position of an acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollPosition {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The list.
    pub list: UpstreamList,
    /// All rows before this instant were read, as described in [`UpstreamList`].
    pub seen_until: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// Positions.
#[async_trait]
pub trait PositionQueries: Send + Sync {
    /// Returns the position of the acquirer's list; `None` before the first read.
    async fn find_position(
        &self,
        acquirer: &AcquirerName,
        list: UpstreamList,
    ) -> Result<Option<PollPosition>, QueryError>;
}
