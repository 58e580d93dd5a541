//! The mark of an infraction that an operator must decide, because the acquirer's records allow more than one outcome.

use jiff::Timestamp;

use super::transitions::taken;
use super::{Infraction, InfractionError, InfractionStep};

named! {
    /// The reason why an operator must decide.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ReviewReason {
        /// More of the Pix was returned than the known infractions explain.
        UnexplainedReturn = "unexplained_return",
        /// A reopened infraction was accepted, and less was returned than its disputed amount.
        MissingReturn = "missing_return",
        /// The acquirer resolved and reopened the infraction between two reads, so its first resolution is unknown.
        ReopenedUnseen = "reopened_unseen",
    }
}

/// The mark for review, which stays after the operator's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Review {
    /// The reason for the review.
    pub reason: ReviewReason,
    /// The instant of the mark.
    pub since: Timestamp,
}

impl Infraction {
    /// Returns whether the infraction waits for an operator: it is marked and open.
    #[must_use]
    pub const fn needs_review(&self) -> bool {
        self.review.is_some() && self.state.status().is_open()
    }

    /// Marks the infraction for review. The block stays unchanged.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction is resolved.
    pub fn mark(self, reason: ReviewReason, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        if !self.state.status().is_open() {
            return Err(self.invalid_state());
        }
        if self.review.is_some() {
            return Ok(InfractionStep::AlreadyTaken(Box::new(self)));
        }
        Ok(taken(Self { review: Some(Review { reason, since: at }), ..self }, None))
    }
}
