//! Infractions as acquirers tell of them, and defences as they take them.

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_domain::money::Money;
use jiff::Timestamp;

/// An infraction as a callback names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NoticedInfraction {
    /// Its name at the acquirer.
    pub id: String,
}

/// Where an infraction stands upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamInfractionStatus {
    /// It can be defended.
    Open,
    /// It has a defence.
    Defended,
    /// The claim was accepted: lost.
    Accepted,
    /// The claim was rejected: won.
    Rejected,
    /// The claim was withdrawn.
    Cancelled,
}

/// An infraction as the acquirer knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamInfraction {
    /// Its name.
    pub id: String,
    /// The disputed Pix.
    pub end_to_end_id: EndToEndId,
    /// How much of it is disputed.
    pub amount: Money,
    /// Where it stands.
    pub status: UpstreamInfractionStatus,
    /// What the payer's side says.
    pub reason: Option<String>,
    /// The kind of situation; `Unknown` where the acquirer's word for it is not known.
    pub situation: Situation,
    /// When it began, the last time if it was opened again.
    pub opened_at: Timestamp,
    /// Whether the acquirer says that it began then. Otherwise that is the next best instant, and that it is later than it was
    /// tells nothing.
    pub opened_at_is_told: bool,
    /// Until when it can be defended.
    pub deadline_at: Option<Timestamp>,
    /// The defence that the acquirer has, as far as it shows it.
    pub defense: Option<UpstreamDefense>,
    /// When it was settled.
    pub resolved_at: Option<Timestamp>,
}

/// A defence as the acquirer has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamDefense {
    /// Its words, evidence and all; an acquirer may leave them out.
    pub text: Option<String>,
    /// When it had it.
    pub received_at: Option<Timestamp>,
}

/// A defence as an acquirer is asked to take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefenseOrder {
    /// The infraction's name at the acquirer.
    pub infraction: String,
    /// The words of the merchant; at most 2,000 characters.
    pub text: String,
    /// Where more can be seen; an acquirer that takes no addresses gets it as the last line of the text.
    pub evidence_url: Option<String>,
}

impl DefenseOrder {
    /// The text for an acquirer that takes nothing else: a look-up compares what it shows with this.
    #[must_use]
    pub fn whole_text(&self) -> String {
        match &self.evidence_url {
            Some(url) => format!("{}\n{url}", self.text),
            None => self.text.clone(),
        }
    }
}

/// What an acquirer says to a defence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefenseReceipt {
    /// It has it.
    Taken,
    /// It had one before: this one or another, which a look tells.
    AlreadyThere,
    /// The time is over.
    TooLate,
}
