//! The steps of an infraction, with their effects on the charge, on the other infractions of the Pix, and on the
//! blocks.

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

/// The result of a step of an infraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfractionStep {
    /// The step was applied.
    Taken(Box<InfractionChange>),
    /// The step was applied before. Nothing changes.
    AlreadyTaken(Box<Infraction>),
}

/// The changes of a step of an infraction, for one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InfractionChange {
    /// The infraction after the step.
    pub infraction: Infraction,
    /// Other open infractions of the same Pix whose limit changes.
    pub siblings: Vec<Infraction>,
    /// The charge to write with the step, also if only a limit changes. `None` if neither the charge nor a limit
    /// changes.
    pub charge: Option<Charge>,
    /// The changes of blocks, in the order of their application.
    pub blocks: Vec<BlockChange>,
    /// The event of the infraction to publish, if any.
    pub event: Option<EventType>,
    /// The event of the charge to publish, if any. A lost infraction can complete the refund of the charge.
    pub charge_event: Option<EventType>,
}

/// The reason why an infraction cannot take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InfractionError {
    /// The status does not allow the step.
    #[error("the infraction is {}", .0.as_str())]
    InvalidState(InfractionStatus),
    /// The infraction already has another defense.
    #[error("the infraction is {} and has a defense", .0.as_str())]
    Defended(InfractionStatus),
    /// The deadline has passed.
    #[error("the infraction could be defended until {0}")]
    TooLate(Timestamp),
    /// The charge does not allow the refund that a lost infraction causes.
    #[error(transparent)]
    Charge(#[from] ChargeError),
    /// An amount is out of range.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
}

/// An acquirer's report of a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputeReport {
    /// The identifier of the infraction that [`Infraction::open`] creates. Other steps ignore it.
    pub id: InfractionId,
    /// The acquirer that reports the dispute.
    pub acquirer: AcquirerName,
    /// The identifier of the dispute at the acquirer.
    pub upstream_id: String,
    /// The reason that the payer's side reports, as free text.
    pub reason: Option<String>,
    /// The kind of situation that the payer reports.
    pub situation: Situation,
    /// The disputed amount.
    pub amount: Money,
    /// The start of the dispute.
    pub opened_at: Timestamp,
    /// The deadline of the defense. `None` if the acquirer reports no deadline.
    pub deadline_at: Option<Timestamp>,
}

/// A disputed Pix, and the stored records that decide how much of the Pix can be blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disputed<'a> {
    /// The Pix.
    pub payment: &'a CreditedPayment,
    /// The charge to which the Pix was credited.
    pub charge: &'a Charge,
    /// All infractions on the Pix, in any state.
    pub infractions: &'a [Infraction],
}

impl Infraction {
    /// Opens an infraction. Its limit is the disputed amount, or the part of the Pix that is left for the infraction if
    /// that part is smaller ([`apportion`]).
    ///
    /// # Errors
    /// [`InfractionError::Money`], impossible for stored values.
    pub fn open(
        report: DisputeReport,
        disputed: Disputed<'_>,
        at: Timestamp,
    ) -> Result<InfractionStep, InfractionError> {
        let Disputed { payment, charge, infractions } = disputed;
        let infraction = Self {
            id: report.id,
            account: charge.account,
            charge: charge.id,
            external_id: charge.terms.external_id.clone(),
            acquirer: report.acquirer,
            upstream_id: report.upstream_id,
            end_to_end_id: payment.payment.end_to_end_id.clone(),
            reason: report.reason,
            situation: report.situation,
            amount: report.amount,
            limit: Money::ZERO,
            state: InfractionState::Open,
            review: None,
            defense: None,
            deadline_at: report.deadline_at,
            alerted_h: None,
            due_at: None,
            attempts: 0,
            opened_at: report.opened_at,
            created_at: at,
            version: 0,
        };
        let mut all = infractions.to_vec();
        all.push(infraction.clone());
        let charge = charge.clone().add_infraction();
        let (infraction, siblings, mut blocks) = divided(infraction, (payment, &charge), &all, None)?;
        // `divided` returns no change for a limit of zero. The block must exist, because every resolution ends a block.
        if infraction.limit.is_zero() {
            blocks.insert(0, infraction.hold());
        }
        let event = Some(EventType::InfractionOpened);
        Ok(changed(InfractionChange { infraction, siblings, charge: Some(charge), blocks, event, charge_event: None }))
    }

    /// Applies the acquirer's current report, and computes the limits of all open infractions on the Pix again. If the
    /// deadline changes, the alerts about the deadline start again.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction is resolved.
    pub fn amend(self, report: &DisputeReport, disputed: Disputed<'_>) -> Result<InfractionStep, InfractionError> {
        self.divide_anew(Some(report), disputed, None)
    }

    /// Gives an infraction whose dispute was accepted precedence over the other open infractions on its Pix, because
    /// the acquirer has already debited the amount. The limits of the others are reduced, and this infraction blocks
    /// the money that they free. The report is applied first, if there is one.
    ///
    /// [`Infraction::lose`] follows in a later commit.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction is resolved.
    pub fn take_precedence(
        self,
        report: Option<&DisputeReport>,
        disputed: Disputed<'_>,
    ) -> Result<InfractionStep, InfractionError> {
        let lost = self.id;
        self.divide_anew(report, disputed, Some(lost))
    }

    fn divide_anew(
        self,
        report: Option<&DisputeReport>,
        disputed: Disputed<'_>,
        lost: Option<InfractionId>,
    ) -> Result<InfractionStep, InfractionError> {
        if !self.state.status().is_open() {
            return Err(self.invalid_state());
        }
        let before = self.clone();
        let infraction = match report {
            None => self,
            Some(report) => {
                let deadline_at = report.deadline_at.or(self.deadline_at);
                Self {
                    reason: report.reason.clone().or(self.reason),
                    situation: if report.situation == Situation::Unknown { self.situation } else { report.situation },
                    amount: report.amount,
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

    /// Resolves the infraction for the merchant. The amount `held`, which the infraction blocks, becomes free.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction has another outcome.
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

    /// Resolves an infraction whose dispute was withdrawn. The amount `held`, which the infraction blocks, becomes
    /// free.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction has another outcome.
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

    /// Resolves the infraction for the payer. The amount `held`, which the infraction blocks, was returned to the
    /// payer. If the Pix settled the charge, the amount counts as a refund of the charge, up to
    /// [`Charge::refundable`].
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction has another outcome.
    pub fn lose(self, disputed: Disputed<'_>, held: Money, at: Timestamp) -> Result<InfractionStep, InfractionError> {
        let all = self.limit.max(held);
        self.lose_at_most(disputed, (held, all), at)
    }

    /// Resolves the infraction for the payer, like [`Infraction::lose`]. Of the amount `held`, at most `most` was
    /// returned to the payer. The limit is reduced to `most`, and the rest of `held` becomes free.
    ///
    /// # Errors
    /// [`InfractionError::InvalidState`] if the infraction has another outcome.
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
                    // The first change frees the part of the block above `most`. The next change ends the block, and
                    // returns the remaining money to the payer.
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
        let charge = charge.remove_infraction();
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

    /// Returns the change that sets the limit of the infraction's block.
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

/// Returns the infractions on the Pix. `now` replaces the stored infraction with the same id.
fn with(infractions: &[Infraction], now: &Infraction) -> Vec<Infraction> {
    infractions.iter().map(|known| if known.id == now.id { now.clone() } else { known.clone() }).collect()
}

/// Returns the infraction with its new limit, the other infractions whose limits change, and the changes of blocks.
fn divided(
    infraction: Infraction,
    (payment, charge): (&CreditedPayment, &Charge),
    all: &[Infraction],
    lost: Option<InfractionId>,
) -> Result<(Infraction, Vec<Infraction>, Vec<BlockChange>), InfractionError> {
    let changed = apportion(payment, charge, all, lost)?;
    let blocks = changed.iter().map(Infraction::hold).collect();
    let (mine, siblings): (Vec<_>, Vec<_>) = changed.into_iter().partition(|one| one.id == infraction.id);
    Ok((mine.into_iter().next().unwrap_or(infraction), siblings, blocks))
}

/// Returns a step that changes only the infraction, and publishes `event`, if any.
pub(super) fn taken(infraction: Infraction, event: Option<EventType>) -> InfractionStep {
    let (siblings, blocks) = (Vec::new(), Vec::new());
    changed(InfractionChange { infraction, siblings, charge: None, blocks, event, charge_event: None })
}

fn changed(change: InfractionChange) -> InfractionStep {
    InfractionStep::Taken(Box::new(change))
}
