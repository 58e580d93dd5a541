//! The steps of a charge. Each step consumes the charge and returns all changes for one commit.

use jiff::Timestamp;

use super::{Charge, ChargeState, ChargeStatus, Issued, Settlement};
use crate::acquirer_name::AcquirerName;
use crate::allocate::{Allocation, AllocationError, allocate};
use crate::event::EventType;
use crate::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, SystemAccount, Transfer};
use crate::money::{Money, MoneyError};
use crate::payment::{CreditedPayment, Payment, PaymentRole, UnexpectedPayment, UnexpectedReason};
use crate::rate::Percentage;
use crate::release::Release;

/// The result of a step of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The step was applied.
    Taken {
        /// The charge after the step.
        charge: Charge,
        /// The event to publish, if any.
        event: Option<EventType>,
    },
    /// The step was applied before. Nothing changes.
    AlreadyTaken(Charge),
}

/// The reason why a charge cannot take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChargeError {
    /// The status does not allow the step.
    #[error("the charge is {}", .0.as_str())]
    InvalidState(ChargeStatus),
    /// The payment period has not ended.
    #[error("the charge can be paid until {0}")]
    NotYetExpired(Timestamp),
    /// An amount is out of range.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
    /// The fee or the refunds exceed the charge's amount, or the credited sum differs from the payment.
    #[error("the parts of an amount do not sum to it")]
    Unbalanced,
    /// The net amount cannot be divided among the shares.
    #[error("the net amount could not be divided")]
    Split(#[from] AllocationError),
}

/// The changes that a payment causes, for one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credit {
    /// The charge after the payment. `None` if the payment does not change the charge.
    pub charge: Option<Charge>,
    /// The payment and its role.
    pub payment: CreditedPayment,
    /// The part of the payment that stays in `pending`. `None` if the whole amount is available at once.
    pub release: Option<Release>,
    /// The transfers, which sum to the payment's amount.
    pub transfers: Vec<Transfer>,
    /// The event to publish. `None` if the payment does not settle the charge.
    pub event: Option<EventType>,
    /// The payment, or the part of it, that does not settle the charge. `None` if the whole payment settles the charge.
    pub unexpected: Option<UnexpectedPayment>,
}

impl Charge {
    /// Records that an acquirer issued the charge. The charge then waits for a payment.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`], unless the charge is in creation, or is already pending with the same data.
    pub fn issue(self, issued: Issued) -> Result<Step, ChargeError> {
        match &self.state {
            ChargeState::Creating { .. } => Ok(self.moved(ChargeState::Pending(issued), None)),
            ChargeState::Pending(known) if *known == issued => Ok(Step::AlreadyTaken(self)),
            ChargeState::Pending(_)
            | ChargeState::Abandoned { .. }
            | ChargeState::Paid(..)
            | ChargeState::Expired { .. }
            | ChargeState::Cancelled { .. }
            | ChargeState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Records the acquirer that receives the next creation request. An abandoned charge returns to creation.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] if the charge was issued.
    pub fn assign_acquirer(self, acquirer: AcquirerName) -> Result<Step, ChargeError> {
        match &self.state {
            ChargeState::Creating { acquirer: assigned } if *assigned == acquirer => Ok(Step::AlreadyTaken(self)),
            ChargeState::Creating { .. } | ChargeState::Abandoned { .. } => {
                Ok(self.moved(ChargeState::Creating { acquirer }, None))
            }
            ChargeState::Pending(_)
            | ChargeState::Paid(..)
            | ChargeState::Expired { .. }
            | ChargeState::Cancelled { .. }
            | ChargeState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Abandons a charge that no acquirer accepted.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] if the charge was issued.
    pub fn abandon(self, at: Timestamp) -> Result<Step, ChargeError> {
        match &self.state {
            ChargeState::Creating { acquirer } => {
                let acquirer = acquirer.clone();
                Ok(self.moved(ChargeState::Abandoned { acquirer, at }, None))
            }
            ChargeState::Abandoned { .. } => Ok(Step::AlreadyTaken(self)),
            ChargeState::Pending(_)
            | ChargeState::Paid(..)
            | ChargeState::Expired { .. }
            | ChargeState::Cancelled { .. }
            | ChargeState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Expires a charge that the acquirer shows as unpaid. `upstream_end` is the end of the payment period at the
    /// acquirer. If `upstream_end` is earlier than the stored end, the charge expires at `upstream_end`.
    ///
    /// # Errors
    /// [`ChargeError::NotYetExpired`] if `at` is before the earlier of the two ends. [`ChargeError::InvalidState`] if
    /// the charge is neither pending nor expired.
    pub fn expire(self, upstream_end: Timestamp, at: Timestamp) -> Result<Step, ChargeError> {
        match &self.state {
            ChargeState::Pending(issued) => {
                let expires_at = issued.expires_at.min(upstream_end);
                if at < expires_at {
                    return Err(ChargeError::NotYetExpired(expires_at));
                }
                let issued = Issued { expires_at, ..issued.clone() };
                Ok(self.moved(ChargeState::Expired { issued, at }, Some(EventType::ChargeExpired)))
            }
            ChargeState::Expired { .. } => Ok(Step::AlreadyTaken(self)),
            ChargeState::Creating { .. }
            | ChargeState::Abandoned { .. }
            | ChargeState::Paid(..)
            | ChargeState::Cancelled { .. }
            | ChargeState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Records that the acquirer cancelled the charge, as its merchant requested.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] if the charge is not pending and not cancelled.
    pub fn cancel(self, at: Timestamp) -> Result<Step, ChargeError> {
        match &self.state {
            ChargeState::Pending(issued) => {
                let issued = issued.clone();
                Ok(self.moved(ChargeState::Cancelled { issued, at }, Some(EventType::ChargeCancelled)))
            }
            ChargeState::Cancelled { .. } => Ok(Step::AlreadyTaken(self)),
            ChargeState::Creating { .. }
            | ChargeState::Abandoned { .. }
            | ChargeState::Paid(..)
            | ChargeState::Expired { .. }
            | ChargeState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Records that the whole amount was refunded.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] if the charge is not paid and not refunded.
    pub fn refund(self, at: Timestamp) -> Result<Step, ChargeError> {
        match &self.state {
            ChargeState::Paid(issued, settlement) => {
                let (issued, settlement) = (issued.clone(), settlement.clone());
                Ok(self.moved(ChargeState::Refunded { issued, settlement, at }, Some(EventType::ChargeRefunded)))
            }
            ChargeState::Refunded { .. } => Ok(Step::AlreadyTaken(self)),
            ChargeState::Creating { .. }
            | ChargeState::Abandoned { .. }
            | ChargeState::Pending(_)
            | ChargeState::Expired { .. }
            | ChargeState::Cancelled { .. } => Err(self.invalid_state()),
        }
    }

    /// Returns whether a sufficient payment would settle the charge. Expired and cancelled charges are payable too,
    /// because the payer may pay while the charge expires or is cancelled.
    #[must_use]
    pub const fn is_payable(&self) -> bool {
        match self.state.status() {
            ChargeStatus::Pending | ChargeStatus::Expired | ChargeStatus::Cancelled => true,
            ChargeStatus::Creating | ChargeStatus::Abandoned | ChargeStatus::Paid | ChargeStatus::Refunded => false,
        }
    }

    /// Credits a Pix for this charge. Every amount is credited, in every state of the charge.
    ///
    /// If `release_delay_s` is positive, the part of the charge's account stays in `pending` for that many seconds. The
    /// shares of other accounts do not wait. The store credits each end-to-end id once, so a second credit of a Pix
    /// fails there.
    ///
    /// # Errors
    /// [`ChargeError::Money`] if an amount is out of range. [`ChargeError::Unbalanced`] if the fee exceeds the amount.
    /// [`ChargeError::Split`] if the net amount cannot be divided among the shares.
    pub fn credit(self, payment: Payment, release_delay_s: u32, at: Timestamp) -> Result<Credit, ChargeError> {
        let role = match self.is_payable() {
            true if payment.amount >= self.terms.amount => PaymentRole::Settles,
            true => PaymentRole::Short,
            false => PaymentRole::Extra,
        };
        let (account, charge, refunded_beyond) = (self.account, self.id, Money::ZERO);
        let credit = CreditedPayment { account, charge, role, credited_at: at, payment, refunded_beyond };
        let payment = &credit.payment;
        let settled = |kind, to, amount| Transfer {
            from: LedgerAccount::system(SystemAccount::Settlement(payment.acquirer.clone()), self.account),
            to,
            amount,
            overdraft: Overdraft::Allowed,
            kind,
            resource: (kind != EntryKind::Split).then(|| self.id.to_string()),
            end_to_end_id: Some(payment.end_to_end_id.clone()),
        };
        let bucket = if release_delay_s > 0 { Bucket::Pending } else { Bucket::Available };
        let creator = LedgerAccount::Merchant(self.account, bucket);
        let mut transfers = Vec::new();
        let (charge, event, extra) = match (role, &self.state.issued()) {
            (PaymentRole::Settles, Some(issued)) => {
                let net = self.terms.amount.checked_sub(self.terms.fee)?;
                if net.is_negative() {
                    return Err(ChargeError::Unbalanced);
                }
                let surplus = payment.amount.checked_sub(self.terms.amount)?;
                let shares = self.terms.split.shares();
                let percentages: Vec<Percentage> = shares.iter().map(|share| share.percentage.clone()).collect();
                let Allocation { parts, remainder } = allocate(net, &percentages)?;
                let fees = LedgerAccount::system(SystemAccount::Fees, self.account);
                transfers.push(settled(EntryKind::Charge, creator.clone(), remainder));
                transfers.push(settled(EntryKind::Fee, fees, self.terms.fee));
                for (share, part) in shares.iter().zip(&parts) {
                    let beneficiary = LedgerAccount::Merchant(share.recipient, Bucket::Available);
                    transfers.push(settled(EntryKind::Split, beneficiary, *part));
                }
                transfers.push(settled(EntryKind::ExtraPayment, creator.clone(), surplus));
                let end_to_end_id = payment.end_to_end_id.clone();
                let settlement = Settlement { paid_at: payment.paid_at, end_to_end_id, parts };
                let state = ChargeState::Paid((*issued).clone(), settlement);
                (Some(Self { state, ..self.clone() }), Some(EventType::ChargePaid), surplus)
            }
            (PaymentRole::Settles | PaymentRole::Short | PaymentRole::Extra, _) => {
                transfers.push(settled(EntryKind::ExtraPayment, creator.clone(), payment.amount));
                (None, None, payment.amount)
            }
        };
        let unexpected = extra.is_positive().then(|| self.unexpected(payment, role, extra));
        transfers.retain(|transfer| !transfer.amount.is_zero());
        if transfers.iter().any(|transfer| transfer.amount.is_negative()) || sum(&transfers)? != credit.payment.amount {
            return Err(ChargeError::Unbalanced);
        }
        let mine =
            Money::sum(transfers.iter().filter(|transfer| transfer.to == creator).map(|transfer| transfer.amount))?;
        let waiting = (mine, release_delay_s);
        let release = Release::after(self.account, self.id, &payment.end_to_end_id, waiting, at);
        Ok(Credit { charge, payment: credit, release, transfers, event, unexpected })
    }

    /// Describes the part of `payment` that does not settle the charge. `self` is the charge before the payment.
    fn unexpected(&self, payment: &Payment, role: PaymentRole, amount: Money) -> UnexpectedPayment {
        let reason = match (role, self.state.status()) {
            (PaymentRole::Settles, _) => UnexpectedReason::Overpaid,
            (PaymentRole::Short, _) => UnexpectedReason::Underpaid,
            (PaymentRole::Extra, ChargeStatus::Creating | ChargeStatus::Abandoned) => UnexpectedReason::Late,
            (
                PaymentRole::Extra,
                ChargeStatus::Pending
                | ChargeStatus::Paid
                | ChargeStatus::Expired
                | ChargeStatus::Cancelled
                | ChargeStatus::Refunded,
            ) => UnexpectedReason::Duplicate,
        };
        let (end_to_end_id, received_at) = (payment.end_to_end_id.clone(), payment.paid_at);
        UnexpectedPayment { end_to_end_id, amount, reason, charge: self.id, received_at }
    }

    fn moved(self, state: ChargeState, event: Option<EventType>) -> Step {
        Step::Taken { charge: Self { state, ..self }, event }
    }

    const fn invalid_state(&self) -> ChargeError {
        ChargeError::InvalidState(self.state.status())
    }
}

fn sum(transfers: &[Transfer]) -> Result<Money, MoneyError> {
    Money::sum(transfers.iter().map(|transfer| transfer.amount))
}
