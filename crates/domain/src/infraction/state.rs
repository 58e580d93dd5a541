//! The states of an infraction, and the data of the dispute.

use jiff::Timestamp;

use crate::money::Money;
use crate::text::Text;

named! {
    /// The kind of situation that a payer reports (DICT terms).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Situation {
        /// The payer was deceived.
        Scam = "SCAM",
        /// Another person took over the payer's account.
        AccountTakeover = "ACCOUNT_TAKEOVER",
        /// The payer was forced.
        Coercion = "COERCION",
        /// Another person used the payer's credentials.
        FraudulentAccess = "FRAUDULENT_ACCESS",
        /// Another situation.
        Other = "OTHER",
        /// The situation is not reported or not recognized.
        Unknown = "UNKNOWN",
    }
}

/// The merchant's defense against an infraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defense {
    /// The text; `None` if the acquirer reports a defense without its text.
    pub text: Option<Text>,
    /// An `https` address with more evidence.
    pub evidence_url: Option<Text>,
    /// The instant of the last sending, done or about to be done.
    pub sent_at: Timestamp,
    /// The instant the acquirer received the defense; `None` while unknown.
    pub submitted_at: Option<Timestamp>,
}

named! {
    /// The status of an infraction in the API.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum InfractionStatus {
        /// The infraction can be defended.
        Open = "open",
        /// The infraction was defended and is under review.
        UnderReview = "under_review",
        /// The infraction was decided for the merchant.
        Won = "won",
        /// The infraction was decided for the payer.
        Lost = "lost",
        /// The payer's side withdrew the infraction.
        Cancelled = "cancelled",
    }
}

impl InfractionStatus {
    /// Returns whether the infraction holds money: it is not resolved yet.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Open | Self::UnderReview => true,
            Self::Won | Self::Lost | Self::Cancelled => false,
        }
    }
}

/// The state of an infraction, each with exactly its facts. Instants are those of this service. The acquirer may have
/// reported the change later than it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfractionState {
    /// The infraction can be defended, or has an unconfirmed defense.
    Open,
    /// The acquirer has a defense, submitted here or directly.
    UnderReview {
        /// The instant of the confirmation.
        at: Timestamp,
    },
    /// The dispute was rejected: the held money is free.
    Won {
        /// The instant of resolution.
        at: Timestamp,
    },
    /// The dispute was accepted: the held money was returned to the payer.
    Lost {
        /// The part of the account's money that was returned.
        returned: Money,
        /// The part that counts as a refund of the charge. The remainder was an unexpected payment.
        refunded: Money,
        /// The instant of resolution.
        at: Timestamp,
    },
    /// The dispute was withdrawn: the held money is free.
    Cancelled {
        /// The instant of resolution.
        at: Timestamp,
    },
}

impl InfractionState {
    /// Returns the status.
    #[must_use]
    pub const fn status(&self) -> InfractionStatus {
        match self {
            Self::Open => InfractionStatus::Open,
            Self::UnderReview { .. } => InfractionStatus::UnderReview,
            Self::Won { .. } => InfractionStatus::Won,
            Self::Lost { .. } => InfractionStatus::Lost,
            Self::Cancelled { .. } => InfractionStatus::Cancelled,
        }
    }

    /// Returns the instant of resolution, if resolved.
    #[must_use]
    pub const fn resolved_at(&self) -> Option<Timestamp> {
        match self {
            Self::Open | Self::UnderReview { .. } => None,
            Self::Won { at } | Self::Lost { at, .. } | Self::Cancelled { at } => Some(*at),
        }
    }
}
