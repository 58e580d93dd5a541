//! Infractions (MED). The tester opens and resolves infractions; the client may defend them. The disputed money of a lost infraction is
//! returned to the payer.

use std::sync::Arc;

use cais_domain::{
    end_to_end_id::{EndToEndIdError, ReturnId},
    infraction::Situation,
    money::Money,
};
use jiff::Timestamp;

use crate::{
    psp::{Psp, Store, StoreError},
    random_ids,
    state::{
        change::Change,
        infraction::{Defense, Infraction, InfractionStatus},
        infractions::InfractionStep,
        payment::{Nature, Payment, Refund, RefundOutcome},
    },
};

/// The default time for a defense, in seconds: seven days. MED gives an institution the same time for its analysis.
const DEADLINE_S: u32 = 7 * 86_400;

/// The longest time for a defense, in seconds: a year.
const MAX_DEADLINE_S: u32 = 365 * 86_400;

/// The prefix of the ids of MED returns, which the institution itself makes.
const REFUND_PREFIX: &str = "med";

/// A payer's dispute, from which the tester opens an infraction.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewDispute {
    /// The situation, [`Situation::Scam`] by default.
    pub situation: Option<Situation>,
    /// The disputed amount, the whole Pix by default.
    pub amount: Option<Money>,
    /// The time for a defense in seconds, seven days by default.
    pub deadline_s: Option<u32>,
    /// The reason of the dispute and the nature of its return. `true`: an operational flaw, `MED_OPERACIONAL`; `false`: a fraud,
    /// `MED_FRAUDE`.
    pub is_operational: bool,
}

/// The outcome to which the tester moves an infraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfractionOutcome {
    /// `REJEITADA`: the receiver keeps the money.
    Won,
    /// `ACEITA`: the money is returned to the payer.
    Lost,
    /// `CANCELADA_EFI`: the payer's institution withdrew the dispute.
    Cancelled,
    /// `ABERTA` again, with the whole time for another defense.
    Reopened,
}

impl InfractionOutcome {
    /// Parses the outcome's name in the control interface.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "won" => Some(Self::Won),
            "lost" => Some(Self::Lost),
            "cancelled" => Some(Self::Cancelled),
            "reopened" => Some(Self::Reopened),
            _ => None,
        }
    }
}

/// The reason an infraction was not opened, or not moved to an outcome.
#[derive(Debug, thiserror::Error)]
pub enum InfractionError {
    /// No Pix has this end-to-end id.
    #[error("no Pix has this end-to-end id")]
    PaymentNotFound,
    /// No infraction has this id.
    #[error("no infraction has this id")]
    NotFound,
    /// The amount is not positive, or exceeds the Pix.
    #[error("the amount must be above 0.00 and at most that of the Pix")]
    InvalidAmount,
    /// The time for a defense is below a second, or above a year.
    #[error("the time for a defense must be from a second to a year")]
    InvalidDeadline,
    /// The infraction is resolved or withdrawn, so it cannot be won or lost.
    #[error("the infraction is resolved")]
    Resolved,
    /// The infraction is withdrawn, so it cannot be withdrawn again.
    #[error("the infraction is cancelled")]
    Cancelled,
    /// The infraction is not resolved or withdrawn, so it cannot be reopened.
    #[error("the infraction is open")]
    Open,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id of the return cannot be composed: the year of the simulated clock is beyond 9999.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

/// The reason a defense was refused.
#[derive(Debug, thiserror::Error)]
pub enum DefenseError {
    /// No infraction has this id.
    #[error("no infraction has this id")]
    NotFound,
    /// The infraction has a defense already.
    #[error("the infraction has a defense")]
    Defended,
    /// The infraction was resolved or withdrawn.
    #[error("the infraction can no longer be defended: it is resolved")]
    Resolved,
    /// The deadline has passed.
    #[error("the deadline for a defense has passed")]
    TooLate,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Psp {
    /// Opens an infraction for a Pix. Every call opens another infraction.
    ///
    /// # Errors
    /// [`InfractionError`].
    pub fn open_infraction(&self, end_to_end_id: &str, dispute: NewDispute) -> Result<Infraction, InfractionError> {
        let now = self.clock.now();
        let id = random_ids::evp().map_err(StoreError::from)?;
        let mut store = self.write();
        let payment = store.books().find_payment(end_to_end_id).ok_or(InfractionError::PaymentNotFound)?;
        let amount = dispute.amount.unwrap_or(payment.amount);
        if !amount.is_positive() || amount > payment.amount {
            return Err(InfractionError::InvalidAmount);
        }
        let deadline_s = dispute.deadline_s.unwrap_or(DEADLINE_S);
        if !(1..=MAX_DEADLINE_S).contains(&deadline_s) {
            return Err(InfractionError::InvalidDeadline);
        }
        let infraction = Infraction {
            id: Arc::from(id),
            end_to_end_id: payment.end_to_end_id.clone(),
            amount,
            situation: dispute.situation.unwrap_or(Situation::Scam),
            nature: if dispute.is_operational { Nature::MedOperational } else { Nature::MedFraud },
            created_at: now,
            opened_at: now,
            deadline_s,
            status: InfractionStatus::Open,
            defense: None,
            ended_at: None,
            refunds: Vec::new(),
            defenses: 0,
            requests: 0,
        };
        let notify = self.webhook_url(&store);
        store.commit(Change::InfractionOpened { infraction: infraction.clone(), notify })?;
        drop(store);
        self.wake_callbacks();
        Ok(infraction)
    }

    /// Records the defense of an open infraction. A refused request is counted in the infraction's `requests` too.
    ///
    /// # Errors
    /// [`DefenseError`].
    pub fn defend(&self, id: &str, text: Box<str>) -> Result<(), DefenseError> {
        let now = self.clock.now();
        let mut store = self.write();
        let (_, infraction) = store.books().infractions().find(id).ok_or(DefenseError::NotFound)?;
        let refusal = match infraction.status {
            InfractionStatus::Open if now > infraction.deadline_at() => Some(DefenseError::TooLate),
            InfractionStatus::Open => None,
            InfractionStatus::Defended => Some(DefenseError::Defended),
            InfractionStatus::Accepted | InfractionStatus::Rejected | InfractionStatus::Cancelled => {
                Some(DefenseError::Resolved)
            }
        };
        let id = infraction.id.clone();
        if let Some(error) = refusal {
            let step = InfractionStep::DefenseRefused;
            store.commit(Change::InfractionChanged { id, step, refund: None, notify: None })?;
            return Err(error);
        }
        let step = InfractionStep::Defended(Defense { text, at: now });
        Ok(self.record_step(&mut store, id, step, None)?)
    }

    /// Moves an infraction to an outcome. If the infraction is lost, the return of its money is recorded in the same change.
    ///
    /// # Errors
    /// [`InfractionError`].
    pub fn resolve_infraction(&self, id: &str, outcome: InfractionOutcome) -> Result<Infraction, InfractionError> {
        self.settle_due()?;
        let now = self.clock.now();
        let mut store = self.write();
        let (_, infraction) = store.books().infractions().find(id).ok_or(InfractionError::NotFound)?;
        let ended = |status| InfractionStep::Ended { status, at: now };
        let step = match (outcome, infraction.status) {
            (InfractionOutcome::Reopened, status) if status.is_open() => return Err(InfractionError::Open),
            (InfractionOutcome::Reopened, _) => InfractionStep::Reopened { at: now },
            // The payer's institution may withdraw a dispute at any time, even after the resolution (DICT API). Money that was returned
            // before stays returned.
            (InfractionOutcome::Cancelled, InfractionStatus::Cancelled) => return Err(InfractionError::Cancelled),
            (InfractionOutcome::Cancelled, _) => ended(InfractionStatus::Cancelled),
            (InfractionOutcome::Won | InfractionOutcome::Lost, status) if !status.is_open() => {
                return Err(InfractionError::Resolved);
            }
            (InfractionOutcome::Won, _) => ended(InfractionStatus::Rejected),
            (InfractionOutcome::Lost, _) => ended(InfractionStatus::Accepted),
        };
        let payment = store.books().find_payment(&infraction.end_to_end_id);
        let refund = match payment.filter(|_| outcome == InfractionOutcome::Lost) {
            Some(payment) => lost_infraction_return(&store, infraction, payment, now)?,
            None => None,
        };
        let key = infraction.id.clone();
        self.record_step(&mut store, key, step, refund)?;
        let (_, infraction) = store.books().infractions().find(id).ok_or(InfractionError::NotFound)?;
        Ok(infraction.clone())
    }

    /// Records a step of an infraction with its callback.
    fn record_step(
        &self,
        store: &mut Store,
        id: Arc<str>,
        step: InfractionStep,
        refund: Option<Refund>,
    ) -> Result<(), StoreError> {
        let notify = self.webhook_url(store);
        store.commit(Change::InfractionChanged { id, step, refund, notify })?;
        self.settlement_wakeup.notify_one();
        self.wake_callbacks();
        Ok(())
    }
}

/// Creates the return for a lost infraction. Its amount is the smallest of three: the disputed amount, the part of the Pix that can still
/// be returned, and the account's balance. Returns `None` if that amount is not positive.
fn lost_infraction_return(
    store: &Store,
    infraction: &Infraction,
    payment: &Payment,
    now: Timestamp,
) -> Result<Option<Refund>, InfractionError> {
    let left = payment.refundable(infraction.nature).unwrap_or(Money::ZERO);
    let amount = infraction.amount.min(left).min(store.books().funds().balance());
    if !amount.is_positive() {
        return Ok(None);
    }
    let return_id = ReturnId::compose(random_ids::ISPB, now, &random_ids::tail().map_err(StoreError::from)?)?;
    let id = format!("{REFUND_PREFIX}{}", random_ids::hex().map_err(StoreError::from)?);
    Ok(Some(Refund {
        id: id.into(),
        return_id: return_id.as_str().into(),
        amount,
        nature: infraction.nature,
        description: None,
        requested_at: now,
        is_covered: true,
        outcome: RefundOutcome::Processing,
    }))
}
