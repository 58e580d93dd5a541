//! Where an infraction stands, and what it is about.

use jiff::Timestamp;

use crate::money::Money;
use crate::text::Text;

/// The kind of situation that a payer reports, as DICT names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Situation {
    /// The payer was deceived.
    Scam,
    /// Somebody else had the payer's account.
    AccountTakeover,
    /// The payer was forced.
    Coercion,
    /// Somebody else used the payer's credentials.
    FraudulentAccess,
    /// Another one.
    Other,
    /// Not told, or not known.
    Unknown,
}

impl Situation {
    /// Every situation.
    pub const ALL: [Self; 6] =
        [Self::Scam, Self::AccountTakeover, Self::Coercion, Self::FraudulentAccess, Self::Other, Self::Unknown];

    /// The word on the wire and in the store.
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

    /// The situation of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|situation| situation.as_str() == word)
    }
}

/// What the merchant says against an infraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defense {
    /// Its words; `None` when the acquirer has a defence of which it tells no more.
    pub text: Option<Text>,
    /// Where more can be seen; an `https` address.
    pub evidence_url: Option<Text>,
    /// When it was last sent to the acquirer, or is about to be.
    pub sent_at: Timestamp,
    /// When the acquirer had it; `None` while that is not known.
    pub submitted_at: Option<Timestamp>,
}

/// The status of an infraction, as the API names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InfractionStatus {
    /// It can be defended.
    Open,
    /// It was defended and is being judged.
    UnderReview,
    /// It was decided for the merchant.
    Won,
    /// It was decided for the payer.
    Lost,
    /// The payer's side withdrew it.
    Cancelled,
}

impl InfractionStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Open, Self::UnderReview, Self::Won, Self::Lost, Self::Cancelled];

    /// The word on the wire and in the store.
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

    /// The status of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether it holds money: it is not settled yet.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Open | Self::UnderReview => true,
            Self::Won | Self::Lost | Self::Cancelled => false,
        }
    }
}

/// Where an infraction stands, each state with exactly its facts. Its instants are when it became so here: its acquirer may have
/// told of it later than it happened there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfractionState {
    /// It can be defended; a defence whose arrival is not known leaves it here.
    Open,
    /// The acquirer has a defence, ours or one that was given to it directly.
    UnderReview {
        /// Since when.
        at: Timestamp,
    },
    /// The claim was rejected: what was held is free again.
    Won {
        /// When.
        at: Timestamp,
    },
    /// The claim was accepted: what was held went back to the payer.
    Lost {
        /// What of the account's money went back.
        returned: Money,
        /// The part of it that counts as refunded of the charge; the rest was paid beyond the charge.
        refunded: Money,
        /// When.
        at: Timestamp,
    },
    /// The claim was withdrawn: what was held is free again.
    Cancelled {
        /// When.
        at: Timestamp,
    },
}

impl InfractionState {
    /// Its status.
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

    /// When it was settled here.
    #[must_use]
    pub const fn resolved_at(&self) -> Option<Timestamp> {
        match self {
            Self::Open | Self::UnderReview { .. } => None,
            Self::Won { at } | Self::Lost { at, .. } | Self::Cancelled { at } => Some(*at),
        }
    }
}
