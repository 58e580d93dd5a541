//! The steps of an infraction, each together with what it does to its charge, its siblings and their blocks.

use jiff::Timestamp;

use super::{Infraction, InfractionState, InfractionStatus, Situation, apportion};
use crate::acquirer_name::AcquirerName;
use crate::block::{BlockChange, BlockEnd};
use crate::charge::{Charge, ChargeError};
use crate::event::EventType;
use crate::ids::InfractionId;
use crate::ledger::{LedgerAccount, SystemAccount};
use crate::money::{Money, MoneyError};
use crate::payment::CreditedPayment;

/// What follows from asking an infraction to take a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfractionStep {
    /// It took the step.
    Taken(Box<InfractionChange>),
    /// It had taken it before; nothing is to be done.
    AlreadyTaken(Box<Infraction>),
}

/// Everything that must become true together when an infraction takes a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InfractionChange {
    /// The infraction after the step.
    pub infraction: Infraction,
    /// Other open infractions of the same Pix whose limit changes with it.
    pub siblings: Vec<Infraction>,
    /// Its charge after the step; `None` when neither it nor any limit depends on it.
    pub charge: Option<Charge>,
    /// What is to be held, or ends.
    pub blocks: Vec<BlockChange>,
    /// What happened to the infraction, if anybody is to know.
    pub event: Option<EventType>,
    /// What happened to the charge, if anybody is to know.
    pub charge_event: Option<EventType>,
}

/// Why an infraction cannot take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InfractionError {
    /// Its status does not allow it.
    #[error("the infraction is {}", .0.as_str())]
    InvalidState(InfractionStatus),
    /// There is another defence.
    #[error("the infraction is {} and has a defence", .0.as_str())]
    Defended(InfractionStatus),
    /// Its deadline is over.
    #[error("the infraction could be defended until {0}")]
    TooLate(Timestamp),
    /// The charge does not allow it.
    #[error(transparent)]
    Charge(#[from] ChargeError),
    /// An amount left the range of money.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
}

/// What an acquirer tells of a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInfraction {
    /// The identifier that it gets.
    pub id: InfractionId,
    /// Who tells.
    pub acquirer: AcquirerName,
    /// Its name there.
    pub upstream_id: String,
    /// What the payer's side says.
    pub reason: Option<String>,
    /// The kind of situation.
    pub situation: Situation,
    /// How much is disputed.
    pub amount: Money,
    /// When the dispute began.
    pub opened_at: Timestamp,
    /// Until when it can be defended.
    pub deadline_at: Option<Timestamp>,
}

/// A disputed Pix with everything that limits what can be held of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disputed<'a> {
    /// The Pix.
    pub payment: &'a CreditedPayment,
    /// Its charge.
    pub charge: &'a Charge,
    /// Every infraction on it, in whatever state.
    pub infractions: &'a [Infraction],
}

impl Infraction {
    /// A dispute became known: what is left of its Pix is blocked, at most the disputed amount.
    ///
    /// # Errors
    /// [`InfractionError::Money`], which nothing of the store can cause.
    pub fn open(
        asked: NewInfraction,
        disputed: Disputed<'_>,
        at: Timestamp,
    ) -> Result<InfractionStep, InfractionError> {
        let Disputed { payment, charge, infractions } = disputed;
        let infraction = Self {
            id: asked.id,
            account: charge.account,
            charge: charge.id,
            external_id: charge.terms.external_id.clone(),
            acquirer: asked.acquirer,
            upstream_id: asked.upstream_id,
            end_to_end_id: payment.payment.end_to_end_id.clone(),
            reason: asked.reason,
            situation: asked.situation,
            amount: asked.amount,
            limit: Money::ZERO,
            state: InfractionState::Open,
            review: None,
            defense: None,
            deadline_at: asked.deadline_at,
            alerted_h: None,
            due_at: None,
            attempts: 0,
            opened_at: asked.opened_at,
            created_at: at,
            version: 0,
        };
        let mut all = infractions.to_vec();
        all.push(infraction.clone());
        let charge = charge.clone().dispute();
        let (infraction, siblings, mut blocks) = divided(infraction, (payment, &charge), &all, None)?;
        if infraction.limit.is_zero() {
            blocks.insert(0, infraction.hold());
        }
        let event = Some(EventType::InfractionOpened);
        Ok(changed(InfractionChange { infraction, siblings, charge: Some(charge), blocks, event, charge_event: None }))
    }

    /// What its acquirer says of it now; limits are divided anew. What is left until another deadline is told anew.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] once it was settled.
    pub fn amend(self, told: &NewInfraction, disputed: Disputed<'_>) -> Result<InfractionStep, InfractionError> {
        self.divide_anew(Some(told), disputed, None)
    }

    /// The same of one that was lost, before it is settled: it has the first claim on its Pix, because what its acquirer took of that
    /// is gone. What its siblings held of it is free, and taken for it at once, in one commit.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] once it was settled.
    pub fn claim_first(
        self,
        told: Option<&NewInfraction>,
        disputed: Disputed<'_>,
    ) -> Result<InfractionStep, InfractionError> {
        let lost = self.id;
        self.divide_anew(told, disputed, Some(lost))
    }

    fn divide_anew(
        self,
        told: Option<&NewInfraction>,
        disputed: Disputed<'_>,
        lost: Option<InfractionId>,
    ) -> Result<InfractionStep, InfractionError> {
        if !self.state.status().is_open() {
            return Err(self.invalid_state());
        }
        let before = self.clone();
        let infraction = match told {
            None => self,
            Some(told) => {
                let deadline_at = told.deadline_at.or(self.deadline_at);
                Self {
                    reason: told.reason.clone().or(self.reason),
                    situation: if told.situation == Situation::Unknown { self.situation } else { told.situation },
                    amount: told.amount,
                    deadline_at,
                    alerted_h: self.alerted_h.filter(|_| deadline_at == self.deadline_at),
                    ..self
                }
            }
        };
        let all = with(disputed.infractions, &infraction);
        let (infraction, siblings, blocks) = divided(infraction, (disputed.payment, disputed.charge), &all, lost)?;
        if infraction == before && siblings.is_empty() {
            return Ok(InfractionStep::AlreadyTaken(Box::new(infraction)));
        }
        let charge = (!blocks.is_empty()).then(|| disputed.charge.clone());
        Ok(changed(InfractionChange { infraction, siblings, charge, blocks, event: None, charge_event: None }))
    }

    /// It was decided for the merchant. `held` is what its block holds.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] when it was settled otherwise.
    pub fn win(self, disputed: Disputed<'_>, held: Money, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        match &self.state {
            InfractionState::Open | InfractionState::UnderReview { .. } => {
                let free = self.end(held, BlockEnd::Released);
                let event = EventType::InfractionWon;
                self.settle(InfractionState::Won { at }, disputed, (free, event), (disputed.charge.clone(), None))
            }
            InfractionState::Won { .. } => Ok(InfractionStep::AlreadyTaken(Box::new(self))),
            InfractionState::Lost { .. } | InfractionState::Cancelled { .. } => Err(self.invalid_state()),
        }
    }

    /// The payer's side withdrew it. `held` is what its block holds.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] when it was settled otherwise.
    pub fn cancel(self, disputed: Disputed<'_>, held: Money, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        match &self.state {
            InfractionState::Open | InfractionState::UnderReview { .. } => {
                let free = self.end(held, BlockEnd::Released);
                let event = EventType::InfractionCancelled;
                self.settle(InfractionState::Cancelled { at }, disputed, (free, event), (disputed.charge.clone(), None))
            }
            InfractionState::Cancelled { .. } => Ok(InfractionStep::AlreadyTaken(Box::new(self))),
            InfractionState::Won { .. } | InfractionState::Lost { .. } => Err(self.invalid_state()),
        }
    }

    /// It was decided for the payer: what its block holds went back, and counts as refunded of its charge.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] when it was settled otherwise.
    pub fn lose(self, disputed: Disputed<'_>, held: Money, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        let all = self.limit.max(held);
        self.lose_at_most(disputed, (held, all), at)
    }

    /// Ends the infraction as lost, with at most the given amount. The rest of its block is freed in the same commit. Its limit becomes the
    /// lost amount.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] when it was settled otherwise.
    pub fn lose_at_most(
        self,
        disputed: Disputed<'_>,
        (held, most): (Money, Money),
        at: Timestamp,
    ) -> Result<InfractionStep, InfractionError> {
        match &self.state {
            InfractionState::Open | InfractionState::UnderReview { .. } => {
                let most = most.max(Money::ZERO);
                let returned = held.min(most);
                let settles = disputed
                    .charge
                    .state
                    .settlement()
                    .is_some_and(|settled| settled.end_to_end_id == self.end_to_end_id);
                let refunded = if settles { returned.min(disputed.charge.refundable()?) } else { Money::ZERO };
                let charge = disputed.charge.clone().return_part(refunded, at)?;
                let settlement = SystemAccount::Settlement(self.acquirer.clone());
                let back = self.end(returned, BlockEnd::Returned(LedgerAccount::system(settlement, self.account)));
                let state = InfractionState::Lost { returned, refunded, at };
                let lost = Self { limit: self.limit.min(most), ..self };
                let freed = (returned < held).then(|| lost.hold());
                let step = lost.settle(state, disputed, (back, EventType::InfractionLost), charge)?;
                Ok(match (step, freed) {
                    // First what is above is freed, then the rest ends as what went back.
                    (InfractionStep::Taken(mut change), Some(freed)) => {
                        change.blocks.insert(0, freed);
                        InfractionStep::Taken(change)
                    }
                    (step, _) => step,
                })
            }
            InfractionState::Lost { .. } => Ok(InfractionStep::AlreadyTaken(Box::new(self))),
            InfractionState::Won { .. } | InfractionState::Cancelled { .. } => Err(self.invalid_state()),
        }
    }

    fn settle(
        self,
        state: InfractionState,
        disputed: Disputed<'_>,
        (end, event): (BlockChange, EventType),
        (charge, charge_event): (Charge, Option<EventType>),
    ) -> Result<InfractionStep, InfractionError> {
        let charge = charge.undispute();
        let infraction = Self { state, due_at: None, ..self };
        let all = with(disputed.infractions, &infraction);
        let (infraction, siblings, holds) = divided(infraction, (disputed.payment, &charge), &all, None)?;
        let blocks = std::iter::once(end).chain(holds).collect();
        Ok(changed(InfractionChange {
            infraction,
            siblings,
            charge: Some(charge),
            blocks,
            event: Some(event),
            charge_event,
        }))
    }

    /// What is to be held for it from now on: its limit.
    #[must_use]
    pub fn hold(&self) -> BlockChange {
        let (account, infraction, end_to_end_id) = (self.account, self.id, self.end_to_end_id.clone());
        BlockChange::Hold { account, infraction, end_to_end_id, limit: self.limit }
    }

    const fn end(&self, held: Money, to: BlockEnd) -> BlockChange {
        BlockChange::End { account: self.account, infraction: self.id, held, to }
    }

    pub(super) const fn invalid_state(&self) -> InfractionError {
        InfractionError::InvalidState(self.state.status())
    }
}

/// All infractions of a Pix with this one as it is now.
fn with(infractions: &[Infraction], now: &Infraction) -> Vec<Infraction> {
    infractions.iter().map(|known| if known.id == now.id { now.clone() } else { known.clone() }).collect()
}

/// The infraction with its limit, its siblings whose limit changes, and what is held for them from now on.
fn divided(
    infraction: Infraction,
    (payment, charge): (&CreditedPayment, &Charge),
    all: &[Infraction],
    lost: Option<InfractionId>,
) -> Result<(Infraction, Vec<Infraction>, Vec<BlockChange>), InfractionError> {
    let mut changed = apportion(payment, charge, all, lost)?;
    // What frees money comes before what wants it.
    changed.sort_by_key(|one| Some(one.id) == lost);
    let blocks = changed.iter().map(Infraction::hold).collect();
    let (mine, siblings): (Vec<_>, Vec<_>) = changed.into_iter().partition(|one| one.id == infraction.id);
    Ok((mine.into_iter().next().unwrap_or(infraction), siblings, blocks))
}

/// A step that moves no money, leaves charge and siblings as they are.
pub(super) fn taken(infraction: Infraction, event: Option<EventType>) -> InfractionStep {
    let (siblings, blocks) = (Vec::new(), Vec::new());
    changed(InfractionChange { infraction, siblings, charge: None, blocks, event, charge_event: None })
}

fn changed(change: InfractionChange) -> InfractionStep {
    InfractionStep::Taken(Box::new(change))
}
