//! The steps of a charge: each consumes it and returns what must become true together.

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

/// What follows from asking a charge to take a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It took the step: this is what it is now, and what consumers are told.
    Taken {
        /// The charge after the step.
        charge: Charge,
        /// What happened, if anybody is to know.
        event: Option<EventType>,
    },
    /// It had taken it before; nothing is to be done.
    AlreadyTaken(Charge),
}

/// Why a charge cannot take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChargeError {
    /// Its status does not allow it.
    #[error("the charge is {}", .0.as_str())]
    InvalidState(ChargeStatus),
    /// It can still be paid.
    #[error("the charge can be paid until {0}")]
    NotYetExpired(Timestamp),
    /// An amount left the range of money.
    #[error("an amount is out of range")]
    Money(#[from] MoneyError),
    /// What would be credited is not what was paid, or more would go back than was paid.
    #[error("the parts of an amount are not the whole of it")]
    Unbalanced,
    /// Its net value could not be divided.
    #[error("the net value could not be divided")]
    Split(#[from] AllocationError),
}

/// A payment judged against its charge: everything that must become true together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credit {
    /// The charge after the payment; `None` when the payment does not change it.
    pub charge: Option<Charge>,
    /// The payment and its role.
    pub payment: CreditedPayment,
    /// What of it the account may not use yet; `None` when all of it can be used at once.
    pub release: Option<Release>,
    /// The money it moves: the sum of what arrives is the payment's amount.
    pub transfers: Vec<Transfer>,
    /// What happened to the charge, if anybody is to know.
    pub event: Option<EventType>,
    /// The payment, or the part of it, that exceeds the charge.
    pub unexpected: Option<UnexpectedPayment>,
}

impl Charge {
    /// An acquirer took the charge: it waits for its payer now.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] unless it is being created or waits already.
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

    /// Another acquirer is asked, or the same one again.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] once it was issued.
    pub fn ask(self, acquirer: AcquirerName) -> Result<Step, ChargeError> {
        match &self.state {
            ChargeState::Creating { acquirer: asked } if *asked == acquirer => Ok(Step::AlreadyTaken(self)),
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

    /// No acquirer took it.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] once it was issued.
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

    /// Its time is over and upstream knows of no payment. `upstream_end` is when the acquirer stops taking payments, which
    /// may be earlier than it said at first.
    ///
    /// # Errors
    /// [`ChargeError::NotYetExpired`] before its time, [`ChargeError::InvalidState`] unless it waits or expired before.
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

    /// The merchant withdraws it, after upstream agreed.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] unless it waits or was cancelled before.
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

    /// All of what was paid went back.
    ///
    /// # Errors
    /// [`ChargeError::InvalidState`] unless it is paid or was refunded before.
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

    /// Whether a payment that reaches the amount would pay it; one that raced its expiry or cancellation does.
    #[must_use]
    pub const fn is_payable(&self) -> bool {
        match self.state.status() {
            ChargeStatus::Pending | ChargeStatus::Expired | ChargeStatus::Cancelled => true,
            ChargeStatus::Creating | ChargeStatus::Abandoned | ChargeStatus::Paid | ChargeStatus::Refunded => false,
        }
    }

    /// A Pix for this charge arrived. Whatever its amount and whenever it comes, all of it is credited.
    ///
    /// What is the creator's waits `release_delay_s` seconds in `pending`, if that is more than none; what others share in does
    /// not. The store credits each end-to-end id once, so a repeat never reaches the ledger.
    ///
    /// # Errors
    /// [`ChargeError::Money`] when an amount leaves the range of money, [`ChargeError::Unbalanced`] for a fee above the amount.
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

    /// Describes the part of `payment` that the charge, as it was before, did not ask for.
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
