//! The steps of a defence: it is given, sent, sent once more, withdrawn, and known to have arrived. No money moves with them.

use jiff::Timestamp;

use super::transitions::taken;
use super::{Defense, Infraction, InfractionError, InfractionState, InfractionStep};
use crate::event::EventType;
use crate::pause::pause;
use crate::text::Text;

impl Infraction {
    /// The merchant defends itself: the defence is about to be sent.
    ///
    /// The same defence again, while it is not known whether the acquirer has it or afterwards, is a repeat.
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

    /// Its defence is about to be sent once more, because the acquirer says that it never had one.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] unless there is a defence whose arrival is not known.
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

    /// Upstream was asked and whether it has the defence is still open: it is asked again after a pause that grows.
    #[must_use]
    pub fn asked(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, due_at: Some(pause(at, attempts)), ..self }
    }

    /// The acquirer certainly did not take the defence, and nothing of it remains.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] unless there is a defence whose arrival is not known.
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

    /// The acquirer has a defence: the one that was sent, or `theirs` that was given to it without this service.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] once it was settled.
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
