//! The states of an infraction, the merchant's defense, and the situation that the payer reports.

use jiff::Timestamp;

use crate::money::Money;
use crate::text::Text;

named! {
    /// The kind of situation that a payer reports, in the terms of DICT, the Central Bank's directory of Pix keys.
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
    /// The text. `None` if the acquirer reports a defense without its text.
    pub text: Option<Text>,
    /// An `https` address with further evidence.
    pub evidence_url: Option<Text>,
    /// The instant of the last request that sends the defense. The instant is stored before the request.
    pub sent_at: Timestamp,
    /// The instant at which the acquirer received or confirmed the defense. `None` while the defense is unconfirmed.
    pub submitted_at: Option<Timestamp>,
}

named! {
    /// The status of an infraction in the API.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum InfractionStatus {
        /// The infraction is not resolved, and the acquirer has not confirmed a defense.
        Open = "open",
        /// The acquirer has a defense, and has not decided yet.
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
    /// Returns whether the infraction is not resolved: `open` or `under_review`. Until then, the infraction has a
    /// block.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Open | Self::UnderReview => true,
            Self::Won | Self::Lost | Self::Cancelled => false,
        }
    }
}

/// The state of an infraction. Each state has the data that belongs to it. Each instant is the time at which this
/// service stored the change; at the acquirer, the change may have happened earlier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfractionState {
    /// The infraction can be defended. A defense may exist that the acquirer has not confirmed.
    Open,
    /// The acquirer has a defense. The merchant submitted it through this service, or at the acquirer itself.
    UnderReview {
        /// The instant of the confirmation.
        at: Timestamp,
    },
    /// The dispute was rejected. The blocked money is free again.
    Won {
        /// The instant of the resolution.
        at: Timestamp,
    },
    /// The dispute was accepted. The amount `returned` went back to the payer.
    Lost {
        /// The amount that was returned from the account's blocked money.
        returned: Money,
        /// The part of `returned` that counts as a refund of the charge. The rest of `returned` was no payment for the
        /// charge: a surplus, or a Pix that did not settle the charge.
        refunded: Money,
        /// The instant of the resolution.
        at: Timestamp,
    },
    /// The dispute was withdrawn. The blocked money is free again.
    Cancelled {
        /// The instant of the resolution.
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

    /// Returns the instant of the resolution. Returns `None` if the infraction is not resolved.
    #[must_use]
    pub const fn resolved_at(&self) -> Option<Timestamp> {
        match self {
            Self::Open | Self::UnderReview { .. } => None,
            Self::Won { at } | Self::Lost { at, .. } | Self::Cancelled { at } => Some(*at),
        }
    }
}
