//! The states of an infraction, and the data of the dispute.

use jiff::Timestamp;

use crate::money::Money;
use crate::text::Text;

/// The kind of situation that a payer reports (DICT terms).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Situation {
    /// The payer was deceived.
    Scam,
    /// Another person took over the payer's account.
    AccountTakeover,
    /// The payer was forced.
    Coercion,
    /// Another person used the payer's credentials.
    FraudulentAccess,
    /// Another situation.
    Other,
    /// The situation is not reported or not recognised.
    Unknown,
}

impl Situation {
    /// Every situation.
    pub const ALL: [Self; 6] =
        [Self::Scam, Self::AccountTakeover, Self::Coercion, Self::FraudulentAccess, Self::Other, Self::Unknown];

    /// Returns the name on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scam => "SCAM",
            Self::AccountTakeover => "ACCOUNT_TAKEOVER",
            Self::Coercion => "COERCION",
            Self::FraudulentAccess => "FRAUDULENT_ACCESS",
            Self::Other => "OTHER",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Returns the situation with this name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|situation| situation.as_str() == word)
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

/// The status of an infraction in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InfractionStatus {
    /// The infraction can be defended.
    Open,
    /// The infraction was defended and is under review.
    UnderReview,
    /// The infraction was decided for the merchant.
    Won,
    /// The infraction was decided for the payer.
    Lost,
    /// The payer's side withdrew the infraction.
    Cancelled,
}

impl InfractionStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Open, Self::UnderReview, Self::Won, Self::Lost, Self::Cancelled];

    /// Returns the name on the wire and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::UnderReview => "under_review",
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the status with this name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

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
        /// The part that counts as refunded of the charge. The rest was paid beyond the charge.
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
