//! How far each acquirer's lists were read.

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use jiff::Timestamp;

use crate::queries::QueryError;

/// A list of an acquirer, each with a position of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UpstreamList {
    /// Infractions. Every infraction that began before the position was seen once.
    Infractions,
    /// Received Pix. Every Pix that was received before the position was compared.
    Received,
    /// Sent Pix. Every Pix that was sent before the position was compared.
    Sent,
    /// Sent Pix again, for what came back of them. The position goes round: from the oldest payout that can come back to the present.
    Returns,
}

impl UpstreamList {
    /// Every list.
    pub const ALL: [Self; 4] = [Self::Infractions, Self::Received, Self::Sent, Self::Returns];

    /// The word in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Infractions => "infractions",
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Returns => "returns",
        }
    }
}

/// How far an acquirer's list was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollPosition {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// The list.
    pub list: UpstreamList,
    /// Everything before this instant was read, as its [`UpstreamList`] says.
    pub seen_until: Timestamp,
    /// How often it was changed; the store checks it.
    pub version: i64,
}

/// Positions.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait PositionQueries: Send + Sync {
    /// How far the acquirer's list was read; `None` before the first time.
    async fn find_position(
        &self,
        acquirer: &AcquirerName,
        list: UpstreamList,
    ) -> Result<Option<PollPosition>, QueryError>;
}
