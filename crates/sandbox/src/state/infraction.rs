//! An infraction (MED) as the simulated PSP keeps it: a payer disputes a received Pix.

use std::sync::Arc;

use cais_domain::{infraction::Situation, money::Money};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::payment::Nature;
use crate::wire;

/// `status` of an infraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InfractionStatus {
    /// It can be defended until its deadline.
    #[serde(rename = "ABERTA")]
    Open,
    /// It has a defence.
    #[serde(rename = "EM_DEFESA")]
    Defended,
    /// The claim was accepted: the money goes back.
    #[serde(rename = "ACEITA")]
    Accepted,
    /// The claim was rejected.
    #[serde(rename = "REJEITADA")]
    Rejected,
    /// The claim was withdrawn.
    #[serde(rename = "CANCELADA_EFI")]
    Cancelled,
}

impl InfractionStatus {
    /// Whether it is still to be decided.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Open | Self::Defended => true,
            Self::Accepted | Self::Rejected | Self::Cancelled => false,
        }
    }
}

/// What the account's holder said against an infraction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defense {
    /// `justificativa`, to the letter.
    pub text: Box<str>,
    /// When it was taken.
    #[serde(with = "wire::micros")]
    pub at: Timestamp,
}

/// One infraction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Infraction {
    /// `idInfracao`, a UUID.
    pub id: Arc<str>,
    /// The disputed Pix.
    pub end_to_end_id: Arc<str>,
    /// How much of it is disputed.
    #[serde(with = "wire::amount")]
    pub amount: Money,
    /// What the payer reports.
    #[serde(with = "wire::situation")]
    pub situation: Situation,
    /// Under which nature its money goes back.
    pub nature: Nature,
    /// When it came into being.
    #[serde(with = "wire::micros")]
    pub created_at: Timestamp,
    /// When its analysis began: at first when it came into being, then whenever it is opened again.
    #[serde(with = "wire::micros")]
    pub opened_at: Timestamp,
    /// Seconds from then in which it can be defended.
    pub deadline_s: u32,
    /// Where it stands.
    pub status: InfractionStatus,
    /// What was said against it since it was opened last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defense: Option<Defense>,
    /// When it was decided or withdrawn, unless it was opened again since.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "wire::optional_micros")]
    pub ended_at: Option<Timestamp>,
    /// Returns of the Pix that were made for it, by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<Box<str>>,
    /// Defences that were taken.
    pub defenses: u64,
    /// Requests for a defence, the refused ones among them.
    pub requests: u64,
}

impl Infraction {
    /// The last instant at which it can be defended.
    #[must_use]
    pub fn deadline_at(&self) -> Timestamp {
        let length = SignedDuration::from_secs(i64::from(self.deadline_s));
        self.opened_at.saturating_add(length).unwrap_or(Timestamp::MAX)
    }

    /// When something last happened to it.
    #[must_use]
    pub fn changed_at(&self) -> Timestamp {
        let defended_at = self.defense.as_ref().map(|defense| defense.at);
        [defended_at, self.ended_at].into_iter().flatten().fold(self.opened_at, Timestamp::max)
    }
}
