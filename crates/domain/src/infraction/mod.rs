//! Infractions (MED): a payer disputes a Pix through the payer's institution. The disputed money is blocked in the
//! merchant's account until the infraction is resolved. Each infraction is resolved once.

mod alert;
mod defending;
mod defense_terms;
mod liable;
mod review;
mod state;
mod transitions;

#[cfg(test)]
mod tests;

pub use defense_terms::{DefenseTermsError, parse_defense_text, parse_evidence_url};
pub use liable::{apportion, left_of};
pub use review::{Review, ReviewReason};
pub use state::{Defense, InfractionState, InfractionStatus, Situation};
pub use transitions::{DisputeReport, Disputed, InfractionChange, InfractionError, InfractionStep};

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::end_to_end_id::EndToEndId;
use crate::external_id::ExternalId;
use crate::ids::{AccountId, ChargeId, InfractionId};
use crate::money::Money;

/// The longest text of a defense, in characters.
pub const MAX_DEFENSE_TEXT: usize = 2_000;
/// The longest address of the evidence, in characters.
pub const MAX_EVIDENCE_URL: usize = 500;
/// The hours before the deadline at which operators get an alert, if the infraction has no defense. The longest time
/// comes first.
pub const ALERT_HOURS: [u8; 3] = [48, 24, 6];

/// A payer's dispute of a Pix that was credited to a charge of this service.
///
/// Each commit that changes a limit also writes the charge, and fails if the version of the charge has changed. So
/// concurrent commits cannot block or return more than the amount of the Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Infraction {
    /// The public identifier.
    pub id: InfractionId,
    /// The owner of the money: the charge's creator.
    pub account: AccountId,
    /// The charge to which the Pix was credited.
    pub charge: ChargeId,
    /// The merchant's identifier of the charge.
    pub external_id: Option<ExternalId>,
    /// The acquirer that received the Pix and reports the dispute.
    pub acquirer: AcquirerName,
    /// The infraction's identifier at the acquirer. If the acquirer reopens a resolved dispute, this service opens a
    /// new infraction with the same identifier.
    pub upstream_id: String,
    /// The disputed Pix.
    pub end_to_end_id: EndToEndId,
    /// The reason that the payer's side reports, as free text.
    pub reason: Option<String>,
    /// The kind of situation that the payer reports.
    pub situation: Situation,
    /// The disputed part of the Pix, as the acquirer reports it.
    pub amount: Money,
    /// The largest amount that the infraction can block: the disputed amount, or the part of the Pix that is left for
    /// this infraction if that part is smaller ([`apportion`]).
    pub limit: Money,
    /// The state, with its data.
    pub state: InfractionState,
    /// The mark for review by an operator. The mark stays after the operator's decision.
    pub review: Option<Review>,
    /// The merchant's defense.
    pub defense: Option<Defense>,
    /// The deadline of the defense. `None` if the acquirer reports no deadline.
    pub deadline_at: Option<Timestamp>,
    /// The smallest of [`ALERT_HOURS`] for which an alert was raised.
    pub alerted_h: Option<u8>,
    /// The instant of the next look-up of the defense at the acquirer. Set only while a defense waits for its
    /// confirmation.
    pub due_at: Option<Timestamp>,
    /// The number of look-ups that did not show the defense.
    pub attempts: u32,
    /// The start of the dispute, as the acquirer reports it.
    pub opened_at: Timestamp,
    /// The instant at which this service stored the dispute.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}
