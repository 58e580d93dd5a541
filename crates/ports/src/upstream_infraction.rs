//! Infractions and defenses in acquirers' records.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_domain::money::Money;
use jiff::Timestamp;

/// An infraction in a callback.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallbackInfraction {
    /// The identifier at the acquirer.
    pub id: String,
}

/// The status of an infraction upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamInfractionStatus {
    /// The infraction can be defended.
    Open,
    /// The infraction has a defense.
    Defended,
    /// The dispute is not decided, and the acquirer does not show whether the infraction has a defense.
    Undecided,
    /// The dispute was accepted: lost.
    Accepted,
    /// The dispute was rejected: won.
    Rejected,
    /// The dispute was withdrawn.
    Cancelled,
}

/// An infraction in the acquirer's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamInfraction {
    /// The identifier at the acquirer.
    pub id: String,
    /// The disputed Pix.
    pub end_to_end_id: EndToEndId,
    /// The disputed amount.
    pub amount: Money,
    /// The status.
    pub status: UpstreamInfractionStatus,
    /// The reason from the payer's side.
    pub reason: Option<String>,
    /// The kind of situation; `Unknown` for an unknown name.
    pub situation: Situation,
    /// The beginning of the dispute, or of its last reopening.
    pub opened_at: Timestamp,
    /// True if the acquirer reports the beginning. Otherwise `opened_at` is the next best instant, and a later value
    /// does not show a reopening.
    pub opened_at_is_reported: bool,
    /// The deadline of the defense.
    pub deadline_at: Option<Timestamp>,
    /// The acquirer's defense, as far as shown.
    pub defense: Option<UpstreamDefense>,
    /// The instant of resolution.
    pub resolved_at: Option<Timestamp>,
}

/// A defense in the acquirer's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamDefense {
    /// The text with its evidence. Acquirers may omit it.
    pub text: Option<String>,
    /// The instant of receipt.
    pub received_at: Option<Timestamp>,
}

/// The order of a defense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefenseOrder {
    /// The infraction's identifier at the acquirer.
    pub infraction: String,
    /// The merchant's text, at most 2,000 characters.
    pub text: String,
    /// The address of evidence. For an acquirer without addresses it becomes the last line of the text.
    pub evidence_url: Option<String>,
}

impl DefenseOrder {
    /// Returns the text for an acquirer that accepts only text. A look-up compares the shown text with it.
    #[must_use]
    pub fn whole_text(&self) -> String {
        match &self.evidence_url {
            Some(url) => format!("{}\n{url}", self.text),
            None => self.text.clone(),
        }
    }
}

/// The answer to a defense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefenseReceipt {
    /// The acquirer accepted the defense.
    Taken,
    /// The acquirer already had a defense: the same or another. A look-up shows which.
    AlreadyThere,
    /// The deadline has passed.
    TooLate,
}
