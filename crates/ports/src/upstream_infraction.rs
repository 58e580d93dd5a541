//! Infractions and defenses, as acquirers record them.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_domain::money::Money;
use jiff::Timestamp;

/// The reference to an infraction in a callback.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallbackInfraction {
    /// The identifier at the acquirer.
    pub id: String,
}

/// The status of an infraction at its acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamInfractionStatus {
    /// The infraction can be defended.
    Open,
    /// The infraction has a defense.
    Defended,
    /// The dispute is not decided, and the acquirer does not show whether the infraction has a defense.
    Undecided,
    /// The dispute was accepted. The infraction is lost.
    Accepted,
    /// The dispute was rejected. The infraction is won.
    Rejected,
    /// The dispute was withdrawn.
    Cancelled,
}

/// An infraction, as the acquirer records it.
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
    /// The reason that the payer's side reports.
    pub reason: Option<String>,
    /// The kind of situation. `Unknown` if the acquirer reports none, or a name that the adapter does not recognize.
    pub situation: Situation,
    /// The start of the dispute or of its last reopening, or a substitute (see the next field).
    pub opened_at: Timestamp,
    /// `true` if the acquirer reports the start. If `false`, `opened_at` is a substitute, such as the time of the Pix.
    /// A substitute does not prove that the dispute was reopened.
    pub opened_at_is_reported: bool,
    /// The deadline of the defense, if the acquirer reports it.
    pub deadline_at: Option<Timestamp>,
    /// The defense, with the parts that the acquirer shows. `None` if the acquirer shows no defense.
    pub defense: Option<UpstreamDefense>,
    /// The instant of the resolution.
    pub resolved_at: Option<Timestamp>,
}

/// A defense, as the acquirer records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamDefense {
    /// The text, which may include the address of the evidence. `None` if the acquirer does not return the text.
    pub text: Option<String>,
    /// The instant at which the acquirer received the defense.
    pub received_at: Option<Timestamp>,
}

/// A request to submit a defense to the acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefenseOrder {
    /// The infraction's identifier at the acquirer.
    pub infraction: String,
    /// The merchant's text, at most 2,000 characters.
    pub text: String,
    /// The address of the evidence. If the acquirer accepts only text, the address becomes the last line of the text.
    pub evidence_url: Option<String>,
}

impl DefenseOrder {
    /// Returns the text for an acquirer that accepts only text. If the acquirer shows a defense with this text, this
    /// service sent the defense.
    #[must_use]
    pub fn whole_text(&self) -> String {
        match &self.evidence_url {
            Some(url) => format!("{}\n{url}", self.text),
            None => self.text.clone(),
        }
    }
}

/// The acquirer's answer to a defense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefenseReceipt {
    /// The acquirer accepted the defense.
    Taken,
    /// The acquirer already had a defense: this one or another. The acquirer's record shows which one.
    AlreadyThere,
    /// The deadline has passed.
    TooLate,
}
