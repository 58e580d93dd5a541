//! Infractions (MED): a payer disputes a Pix through its institution; money is blocked until that is settled, once.

mod alert;
mod defending;
mod liable;
mod review;
mod state;
mod transitions;

#[cfg(test)]
mod table;

pub use liable::{apportion, left_of};
pub use review::{Review, ReviewReason};
pub use state::{Defense, InfractionState, InfractionStatus, Situation};
pub use transitions::{Disputed, InfractionChange, InfractionError, InfractionStep, NewInfraction};

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, ChargeId, InfractionId};
use crate::money::Money;

/// The longest text of a defence, in characters.
pub const MAX_DEFENSE_TEXT: usize = 2_000;
/// The longest address of evidence, in characters.
pub const MAX_EVIDENCE_URL: usize = 500;
/// Hours before its deadline at which an infraction without a defence is told to operators, the earliest first.
pub const ALERT_HOURS: [u8; 3] = [48, 24, 6];

/// A dispute of one Pix that was credited to a charge of ours.
///
/// It never changes without its charge: whose version guards that blocks, refunds and returns together fit into the Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Infraction {
    /// Its public identifier.
    pub id: InfractionId,
    /// Whose money it is about: the charge's creator.
    pub account: AccountId,
    /// The charge that was paid.
    pub charge: ChargeId,
    /// The merchant's own name for that charge.
    pub external_id: Option<ExternalId>,
    /// Who received the Pix, and tells of the dispute.
    pub acquirer: AcquirerName,
    /// Its name at the acquirer; one that is reopened there after it was settled is a new one of ours.
    pub upstream_id: String,
    /// The disputed Pix.
    pub end_to_end_id: EndToEndId,
    /// What the payer's side says.
    pub reason: Option<String>,
    /// The kind of situation.
    pub situation: Situation,
    /// How much of the Pix is disputed, as the acquirer says it.
    pub amount: Money,
    /// How much of the account's money it concerns: what is left of the Pix, at most the disputed amount.
    pub limit: Money,
    /// Where it stands.
    pub state: InfractionState,
    /// The mark for review, which stays after the operator's decision.
    pub review: Option<Review>,
    /// What the merchant says.
    pub defense: Option<Defense>,
    /// Until when it can be defended.
    pub deadline_at: Option<Timestamp>,
    /// The least of [`ALERT_HOURS`] that was told.
    pub alerted_h: Option<u8>,
    /// When it is to be found out next whether the acquirer has the defence.
    pub due_at: Option<Timestamp>,
    /// How often that was tried.
    pub attempts: u32,
    /// When the dispute began.
    pub opened_at: Timestamp,
    /// When it became known.
    pub created_at: Timestamp,
    /// How often it was changed; the store checks it.
    pub version: i64,
}
