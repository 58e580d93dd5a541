//! An infraction (MED) in the simulated PSP: a payer disputes a received Pix.

use std::sync::Arc;

use cais_domain::{infraction::Situation, money::Money};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::payment::Nature;
use crate::wire;

/// The `status` of an infraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InfractionStatus {
    /// The infraction can be defended until its deadline.
    #[serde(rename = "ABERTA")]
    Open,
    /// The infraction has a defense, and waits for its resolution.
    #[serde(rename = "EM_DEFESA")]
    Defended,
    /// The dispute was accepted: the money is returned.
    #[serde(rename = "ACEITA")]
    Accepted,
    /// The dispute was rejected.
    #[serde(rename = "REJEITADA")]
    Rejected,
    /// The payer's side withdrew the dispute.
    #[serde(rename = "CANCELADA_EFI")]
    Cancelled,
}

impl InfractionStatus {
    /// Returns whether the infraction is unresolved.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Open | Self::Defended => true,
            Self::Accepted | Self::Rejected | Self::Cancelled => false,
        }
    }
}

/// The account holder's defense.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defense {
    /// `justificativa`, unchanged.
    pub text: Box<str>,
    /// The instant at which the institution accepted the defense.
    #[serde(with = "wire::micros")]
    pub at: Timestamp,
}

/// An infraction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Infraction {
    /// `idInfracao`, a UUID.
    pub id: Arc<str>,
    /// The end-to-end id of the disputed Pix.
    pub end_to_end_id: Arc<str>,
    /// The disputed amount.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// The situation reported by the payer.
    #[serde(with = "wire::situation")]
    pub situation: Situation,
    /// The `natureza` of the return, if the infraction is lost.
    pub nature: Nature,
    /// The instant of creation.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
    /// The instant when the analysis began: the creation, or the last reopening.
    #[serde(with = "wire::micros")]
    pub opened_at: Timestamp,
    /// The time in which a defense is accepted, in seconds from `opened_at`.
    pub deadline_s: u32,
    /// The status.
    pub status: InfractionStatus,
    /// The defense that was accepted since the last opening, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defense: Option<Defense>,
    /// The instant of the resolution or withdrawal; `None` while the infraction is unresolved.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "wire::optional_micros")]
    pub ended_at: Option<Timestamp>,
    /// The ids of the returns that the institution made because the infraction was lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Box<str>>,
    /// The number of accepted defenses.
    pub defenses: u64,
    /// The number of the client's requests to submit a defense, refused ones included.
    pub requests: u64,
}

impl Infraction {
    /// Returns the last instant at which a defense is accepted.
    #[must_use]
    pub fn deadline_at(&self) -> Timestamp {
        let length = SignedDuration::from_secs(i64::from(self.deadline_s));
        self.opened_at.saturating_add(length).unwrap_or(Timestamp::MAX)
    }

    /// Returns the instant of the last change.
    #[must_use]
    pub fn changed_at(&self) -> Timestamp {
        let defended_at = self.defense.as_ref().map(|defense| defense.at);
        [defended_at, self.ended_at].into_iter().flatten().fold(self.opened_at, Timestamp::max)
    }
}
