//! A dispute that ended and was opened again before its end was seen: the old one ends and a new one begins, in one step.

use jiff::Timestamp;

use super::{Disputed, Infraction, InfractionChange, InfractionError, InfractionState, InfractionStep, NewInfraction};
use crate::money::Money;

/// What is known of an end that was not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnseenEnd {
    /// The claim was accepted: its acquirer took so much money for it.
    Lost(Money),
    /// Nothing was taken: whether it was rejected or withdrawn is not known, and counts as withdrawn.
    Cancelled,
}

/// Everything that must become true together when one infraction ends and another begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopening {
    /// The end of the old one, without what both change.
    pub ended: InfractionChange,
    /// The beginning of the new one, with the charge and the siblings as both leave them.
    pub opened: InfractionChange,
}

impl Infraction {
    /// It was defended, ended and was opened again, and none of that was seen: it ends, and the new one can be defended.
    ///
    /// What the old one frees is taken for the new one in the same commit. `held` is what the block of the old one holds; of that at
    /// most what was taken for it is lost.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] unless it is under review: one that is open stays the same, one that ended needs no end.
    pub fn reopen(
        self,
        asked: NewInfraction,
        disputed: Disputed<'_>,
        (end, held): (UnseenEnd, Money),
        at: Timestamp,
    ) -> Result<Reopening, InfractionError> {
        let ended = match &self.state {
            InfractionState::UnderReview { .. } => match end {
                UnseenEnd::Lost(most) => taken(self.lose_at_most(disputed, (held, most), at)?)?,
                UnseenEnd::Cancelled => taken(self.cancel(disputed, held, at)?)?,
            },
            InfractionState::Open
            | InfractionState::Won { .. }
            | InfractionState::Lost { .. }
            | InfractionState::Cancelled { .. } => return Err(self.refuse()),
        };
        let charge = ended.charge.clone().unwrap_or_else(|| disputed.charge.clone());
        let now = |known: &Infraction| {
            let changed = ended.siblings.iter().chain([&ended.infraction]).find(|one| one.id == known.id);
            changed.unwrap_or(known).clone()
        };
        let between: Vec<Infraction> = disputed.infractions.iter().map(now).collect();
        let disputed = Disputed { payment: disputed.payment, charge: &charge, infractions: &between };
        let opened = taken(Self::open(asked, disputed, at)?)?;
        // Both divide the Pix anew; each sibling is written once, as the second leaves it.
        let siblings = ended.siblings.iter().filter(|one| opened.siblings.iter().all(|later| later.id != one.id));
        let siblings = opened.siblings.iter().chain(siblings).cloned().collect();
        Ok(Reopening {
            opened: InfractionChange { siblings, charge_event: ended.charge_event, ..opened },
            ended: InfractionChange { siblings: Vec::new(), charge: None, charge_event: None, ..ended },
        })
    }
}

/// The change of a step that was taken now.
fn taken(step: InfractionStep) -> Result<InfractionChange, InfractionError> {
    match step {
        InfractionStep::Taken(change) => Ok(*change),
        InfractionStep::AlreadyTaken(infraction) => Err(infraction.refuse()),
    }
}
