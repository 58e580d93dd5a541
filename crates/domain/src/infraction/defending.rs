//! The steps of a defense: submit, send, resend, withdraw, confirm. No step moves money.

use jiff::Timestamp;

use super::transitions::taken;
use super::{Defense, Infraction, InfractionError, InfractionState, InfractionStep};
use crate::event::EventType;
use crate::pause::pause;
use crate::text::Text;

impl Infraction {
    /// Records the merchant's defense, which is about to be sent.
    ///
    /// A second request with the same defense changes nothing, even after the confirmation.
    ///
    /// # Errors
    /// [`InfractionError::Defended`], [`InfractionError::InvalidState`], [`InfractionError::TooLate`], in this order.
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

    /// Records that the defense is about to be resent, because the acquirer reports that it never received one.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] unless a defense is unconfirmed.
    pub fn send_again(self, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        let unconfirmed = self.defense.clone().filter(|defense| defense.submitted_at.is_none());
        match (&self.state, unconfirmed) {
            (InfractionState::Open, Some(defense)) => {
                let defense = Some(Defense { sent_at: at, ..defense });
                Ok(taken(Self { defense, ..self }.asked(at), None))
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

    /// Records a look-up without a result. The next look-up follows after a growing pause.
    #[must_use]
    pub fn asked(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, due_at: Some(pause(at, attempts)), ..self }
    }

    /// Removes a defense that the acquirer certainly did not accept.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] unless a defense is unconfirmed.
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

    /// Records that the acquirer has a defense: the one that was sent, or `theirs`, which was submitted outside of this
    /// service.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] once resolved.
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
