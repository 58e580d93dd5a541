//! Infractions (MED): opened and decided by the tester, defended by the client, paid back when they are lost.

use std::sync::Arc;

use cais_domain::{
    end_to_end_id::{EndToEndIdError, ReturnId},
    infraction::Situation,
    money::Money,
};
use jiff::Timestamp;

use crate::{
    dice,
    psp::{Psp, Store, StoreError},
    state::{
        change::Change,
        infraction::{Defense, Infraction, InfractionStatus},
        infractions::InfractionStep,
        payment::{Nature, Payment, Refund, RefundOutcome},
    },
};

/// Seconds in which an infraction can be defended unless told otherwise: what an institution has for its analysis.
const DEADLINE_S: u32 = 7 * 86_400;

/// Longest time for a defence that may be asked for, in seconds: a year.
const MAX_DEADLINE_S: u32 = 365 * 86_400;

/// What the ids of returns begin with that nobody asked for.
const REFUND_PREFIX: &str = "med";

/// What a payer claims; the default is a scam about all of the Pix.
#[derive(Clone, Copy, Debug, Default)]
pub struct InfractionClaim {
    /// What happened, [`Situation::Scam`] unless told.
    pub situation: Option<Situation>,
    /// How much is disputed, all of the Pix unless told.
    pub amount: Option<Money>,
    /// Seconds in which it can be defended, seven days unless told.
    pub deadline_s: Option<u32>,
    /// Whether an operational flaw is claimed instead of a fraud: the return is then `MED_OPERACIONAL`, not `MED_FRAUDE`.
    pub is_operational: bool,
}

/// What a tester lets become of an infraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InfractionOutcome {
    /// `REJEITADA`: the receiver keeps the money.
    Won,
    /// `ACEITA`: the money goes back.
    Lost,
    /// `CANCELADA_EFI`: the payer's side withdrew it.
    Cancelled,
    /// `ABERTA` once more.
    Reopened,
}

impl InfractionOutcome {
    /// Reads the word of the control interface.
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

/// Why an infraction was not opened or settled.
#[derive(Debug, thiserror::Error)]
pub enum InfractionError {
    /// No Pix has this end-to-end id.
    #[error("no Pix has this end-to-end id")]
    PaymentNotFound,
    /// No infraction has this id.
    #[error("no infraction has this id")]
    NotFound,
    /// Not positive, or more than the Pix.
    #[error("the amount must be above 0.00 and at most that of the Pix")]
    InvalidAmount,
    /// No second, or more than a year.
    #[error("the time for a defence must be from a second to a year")]
    InvalidDeadline,
    /// It was decided or withdrawn before.
    #[error("the infraction is settled")]
    Settled,
    /// It was withdrawn before.
    #[error("the infraction is cancelled")]
    Cancelled,
    /// It cannot be opened again, because it is open.
    #[error("the infraction is open")]
    Open,
    /// The system cannot serve.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The id could not be composed; only a year beyond 9999 does that.
    #[error(transparent)]
    Id(#[from] EndToEndIdError),
}

/// Why a defence was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DefenseError {
    /// No infraction has this id.
    #[error("no infraction has this id")]
    NotFound,
    /// It has one.
    #[error("the infraction has a defence")]
    Defended,
    /// It was decided or withdrawn.
    #[error("the infraction can no longer be defended: it is settled")]
    Settled,
    /// Its deadline is over.
    #[error("the deadline for a defence is over")]
    TooLate,
    /// The system cannot serve.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Psp {
    /// A payer disputes a Pix. Every call is another infraction.
    ///
    /// # Errors
    /// [`InfractionError`].
    pub fn open_infraction(&self, end_to_end_id: &str, claim: InfractionClaim) -> Result<Infraction, InfractionError> {
        let now = self.clock.now();
        let id = dice::evp().map_err(StoreError::from)?;
        let mut store = self.write();
        let payment = store.books().find_payment(end_to_end_id).ok_or(InfractionError::PaymentNotFound)?;
        let amount = claim.amount.unwrap_or(payment.amount);
        if !amount.is_positive() || amount > payment.amount {
            return Err(InfractionError::InvalidAmount);
        }
        let deadline_s = claim.deadline_s.unwrap_or(DEADLINE_S);
        if !(1..=MAX_DEADLINE_S).contains(&deadline_s) {
            return Err(InfractionError::InvalidDeadline);
        }
        let infraction = Infraction {
            id: Arc::from(id),
            end_to_end_id: payment.end_to_end_id.clone(),
            amount,
            situation: claim.situation.unwrap_or(Situation::Scam),
            nature: if claim.is_operational { Nature::MedOperational } else { Nature::MedFraud },
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
        self.callback_bell.notify_one();
        Ok(infraction)
    }

    /// Takes the one defence of an infraction. A request that is refused is counted all the same.
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
                Some(DefenseError::Settled)
            }
        };
        let id = infraction.id.clone();
        if let Some(error) = refusal {
            let step = InfractionStep::DefenseRefused;
            store.commit(Change::InfractionChanged { id, step, refund: None, notify: None })?;
            return Err(error);
        }
        let step = InfractionStep::Defended(Defense { text, at: now });
        Ok(self.change(&mut store, id, step, None)?)
    }

    /// Settles an infraction, or opens a settled one again. A lost one's money goes back, in the same change.
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
            // The payer's side may withdraw it at any time, also after its end (DICT API); no money moves by that.
            (InfractionOutcome::Cancelled, InfractionStatus::Cancelled) => return Err(InfractionError::Cancelled),
            (InfractionOutcome::Cancelled, _) => ended(InfractionStatus::Cancelled),
            (InfractionOutcome::Won | InfractionOutcome::Lost, status) if !status.is_open() => {
                return Err(InfractionError::Settled);
            }
            (InfractionOutcome::Won, _) => ended(InfractionStatus::Rejected),
            (InfractionOutcome::Lost, _) => ended(InfractionStatus::Accepted),
        };
        let payment = store.books().find_payment(&infraction.end_to_end_id);
        let refund = match payment.filter(|_| outcome == InfractionOutcome::Lost) {
            Some(payment) => paid_back(&store, infraction, payment, now)?,
            None => None,
        };
        let key = infraction.id.clone();
        self.change(&mut store, key, step, refund)?;
        let (_, infraction) = store.books().infractions().find(id).ok_or(InfractionError::NotFound)?;
        Ok(infraction.clone())
    }

    fn change(
        &self,
        store: &mut Store,
        id: Arc<str>,
        step: InfractionStep,
        refund: Option<Refund>,
    ) -> Result<(), StoreError> {
        let notify = self.webhook_url(store);
        store.commit(Change::InfractionChanged { id, step, refund, notify })?;
        self.settlement_bell.notify_one();
        self.callback_bell.notify_one();
        Ok(())
    }
}

/// What goes back for a lost infraction: at most what is left of its Pix, and what the account has.
fn paid_back(
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
    let return_id = ReturnId::compose(dice::ISPB, now, &dice::tail().map_err(StoreError::from)?)?;
    let id = format!("{REFUND_PREFIX}{}", dice::hex().map_err(StoreError::from)?);
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
