//! The mark of an infraction that an operator has to decide, because its acquirer's records leave more than one answer.

use jiff::Timestamp;

use super::transitions::taken;
use super::{Infraction, InfractionError, InfractionStep};

/// The reason for which an operator has to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReviewReason {
    /// More money went back from the Pix than the known infractions explain.
    UnexplainedReturn,
    /// A reopened infraction was accepted, and less money went back than it disputes.
    MissingReturn,
    /// The acquirer reopened the infraction, and the service saw only what came before and after.
    ReopenedUnseen,
}

impl ReviewReason {
    /// Every reason.
    pub const ALL: [Self; 3] = [Self::UnexplainedReturn, Self::MissingReturn, Self::ReopenedUnseen];

    /// Returns the word in the store and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnexplainedReturn => "unexplained_return",
            Self::MissingReturn => "missing_return",
            Self::ReopenedUnseen => "reopened_unseen",
        }
    }

    /// Returns the reason of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// The mark. An infraction keeps it after its end, as a sign that an operator decided it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Review {
    /// The reason.
    pub reason: ReviewReason,
    /// The instant of the mark.
    pub since: Timestamp,
}

impl Infraction {
    /// Returns whether an operator has to decide it: it is marked and holds money.
    #[must_use]
    pub const fn needs_review(&self) -> bool {
        self.review.is_some() && self.state.status().is_open()
    }

    /// Marks it for review. Its money stays as it is.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] once it was settled.
    pub fn mark(self, reason: ReviewReason, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        if !self.state.status().is_open() {
            return Err(self.refuse());
        }
        if self.review.is_some() {
            return Ok(InfractionStep::AlreadyTaken(Box::new(self)));
        }
        Ok(taken(Self { review: Some(Review { reason, since: at }), ..self }, None))
    }
}
