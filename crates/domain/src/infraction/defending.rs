//! The steps of a defense: submission, resending, removal and confirmation. These steps move no money.

use jiff::Timestamp;

use super::transitions::taken;
use super::{Defense, Infraction, InfractionError, InfractionState, InfractionStep};
use crate::event::EventType;
use crate::pause::pause;
use crate::text::Text;

impl Infraction {
    /// Records the merchant's defense. The service sends the defense to the acquirer after the commit.
    ///
    /// Until the infraction is resolved, a second call with the same defense has no effect, even after the deadline.
    ///
    /// # Errors
    /// - [`InfractionError::Defended`] if the infraction is not resolved and has another defense.
    /// - [`InfractionError::InvalidState`] if the infraction is resolved, or is under review without a stored defense.
    /// - [`InfractionError::TooLate`] after the deadline.
    pub fn defend(
        self,
        text: Text,
        evidence_url: Option<Text>,
        at: Timestamp,
    ) -> Result<InfractionStep, InfractionError> {
        match (&self.defense, &self.state) {
            (Some(known), InfractionState::Open | InfractionState::UnderReview { .. })
                if known.text.as_ref() == Some(&text) && known.evidence_url == evidence_url =>
            {
                return Ok(InfractionStep::AlreadyTaken(Box::new(self)));
            }
            (Some(_), InfractionState::Open | InfractionState::UnderReview { .. }) => {
                return Err(InfractionError::Defended(self.state.status()));
            }
            (None, InfractionState::Open) => {}
            (
                _,
                InfractionState::UnderReview { .. }
                | InfractionState::Won { .. }
                | InfractionState::Lost { .. }
                | InfractionState::Cancelled { .. },
            ) => return Err(self.invalid_state()),
        }
        if let Some(deadline) = self.deadline_at.filter(|deadline| at > *deadline) {
            return Err(InfractionError::TooLate(deadline));
        }
        let defense = Some(Defense { text: Some(text), evidence_url, sent_at: at, submitted_at: None });
        Ok(taken(Self { defense, due_at: Some(pause(at, 0)), attempts: 0, ..self }, None))
    }

    /// Records that the defense will be sent again, because the acquirer reports no defense.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the status is not `open`, or if no defense waits for its confirmation.
    pub fn send_again(self, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        let unconfirmed = self.defense.clone().filter(|defense| defense.submitted_at.is_none());
        match (&self.state, unconfirmed) {
            (InfractionState::Open, Some(defense)) => {
                let defense = Some(Defense { sent_at: at, ..defense });
                Ok(taken(Self { defense, ..self }.schedule_next_poll(at), None))
            }
            (InfractionState::Open, None)
            | (
                InfractionState::UnderReview { .. }
                | InfractionState::Won { .. }
                | InfractionState::Lost { .. }
                | InfractionState::Cancelled { .. },
                _,
            ) => Err(self.invalid_state()),
        }
    }

    /// Schedules the next poll, because no poll has shown the defense. The pause before the poll doubles each time, up
    /// to [`crate::pause::MAX_PAUSE`].
    #[must_use]
    pub fn schedule_next_poll(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, due_at: Some(pause(at, attempts)), ..self }
    }

    /// Removes a defense that the acquirer certainly did not accept.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the acquirer has a defense, or if the infraction is resolved.
    pub fn withdraw_defense(self) -> Result<InfractionStep, InfractionError> {
        match (&self.state, &self.defense) {
            (InfractionState::Open, None) => Ok(InfractionStep::AlreadyTaken(Box::new(self))),
            (InfractionState::Open, Some(defense)) if defense.submitted_at.is_none() => {
                Ok(taken(Self { defense: None, due_at: None, attempts: 0, ..self }, None))
            }
            (InfractionState::Open, Some(_))
            | (
                InfractionState::UnderReview { .. }
                | InfractionState::Won { .. }
                | InfractionState::Lost { .. }
                | InfractionState::Cancelled { .. },
                _,
            ) => Err(self.invalid_state()),
        }
    }

    /// Records that the acquirer has a defense. If `theirs` is `Some`, it replaces the stored defense. If `theirs` is
    /// `None`, the stored defense is marked as confirmed, if there is one.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction is resolved.
    pub fn review(self, theirs: Option<Defense>, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        match &self.state {
            InfractionState::Open => {
                let ours = self.defense.clone().map(|defense| Defense { submitted_at: Some(at), ..defense });
                let defense = theirs.or(ours);
                let state = InfractionState::UnderReview { at };
                let infraction = Self { state, defense, due_at: None, ..self };
                Ok(taken(infraction, Some(EventType::InfractionUnderReview)))
            }
            InfractionState::UnderReview { .. } => Ok(InfractionStep::AlreadyTaken(Box::new(self))),
            InfractionState::Won { .. } | InfractionState::Lost { .. } | InfractionState::Cancelled { .. } => {
                Err(self.invalid_state())
            }
        }
    }
}
