//! The mark for review: an operator must decide the infraction, because the acquirer's records allow more than one
//! outcome.

use jiff::Timestamp;

use super::transitions::taken;
use super::{Infraction, InfractionError, InfractionStep};

named! {
    /// The reason why an operator must decide an infraction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ReviewReason {
        /// More of the Pix was returned than the known infractions explain.
        UnexplainedReturn = "unexplained_return",
        /// A reopened dispute was accepted, but a day later the acquirer has still returned less than expected.
        MissingReturn = "missing_return",
        /// The acquirer reopened the dispute. The service read only the states before and after, and missed those
        /// between.
        ReopenedUnseen = "reopened_unseen",
    }
}

/// The mark for review by an operator. The mark stays after the operator's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Review {
    /// The reason for the review.
    pub reason: ReviewReason,
    /// The instant of the mark.
    pub since: Timestamp,
}

impl Infraction {
    /// Returns whether the infraction waits for an operator: it is marked and not resolved.
    #[must_use]
    pub const fn needs_review(&self) -> bool {
        self.review.is_some() && self.state.status().is_open()
    }

    /// Marks the infraction for review. Its block stays unchanged. An earlier mark stays.
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
