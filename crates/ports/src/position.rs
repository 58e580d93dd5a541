//! Positions in the lists of acquirers and crypto processors: the time up to which each list was read.

use std::fmt;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use jiff::Timestamp;

use crate::queries::QueryError;
use crate::record::{RecordKey, RecordQueries};

/// A list of an acquirer or crypto processor, with its own position. *Compared* means: the reconciliation compared the
/// row with the service's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UpstreamList {
    /// Infractions. Every infraction that started before the position was read at least once.
    Infractions,
    /// Received Pix. Every Pix that was received before the position was compared.
    Received,
    /// Sent Pix. Every Pix that was sent before the position was compared.
    Sent,
    /// Sent Pix, read again to find their returns. At acquirers that list returns apart from their payouts, this list
    /// contains these returns too. The position starts at the oldest day whose payouts can still be returned. Each pass
    /// moves the position by one day, and after today it starts again.
    Returns,
    /// Payments at a crypto processor. Every payment that was created before the position was compared.
    CryptoDeposits,
    /// Withdrawals at a crypto processor. Every withdrawal that was created before the position was compared.
    CryptoWithdrawals,
}

impl UpstreamList {
    /// All lists.
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

/// The position in one list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollPosition {
    /// The acquirer or crypto processor that has the list.
    pub acquirer: AcquirerName,
    /// The list.
    pub list: UpstreamList,
    /// The instant before which all rows were read or compared; [`UpstreamList`] has the meaning for each list.
    pub seen_until: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// Positions.
#[async_trait]
pub trait PositionQueries: RecordQueries {
    /// Returns the position in the acquirer's list. Returns `None` before the first read.
    async fn find_position(
        &self,
        acquirer: &AcquirerName,
        list: UpstreamList,
    ) -> Result<Option<PollPosition>, QueryError> {
        self.find_record(RecordKey::Position { acquirer: acquirer.clone(), list })
            .await?
            .map(TryInto::try_into)
            .transpose()
    }
}

impl<T: RecordQueries> PositionQueries for T {}
