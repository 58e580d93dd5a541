//! The steps of a deposit that move no money. Each step consumes the deposit and returns all changes for one commit.

use jiff::{SignedDuration, Timestamp};

use super::{
    Deposit, DepositPayment, DepositPrice, DepositState, DepositStatus, Issued, LATE_CREDIT_WINDOW, Resolution,
};
use crate::event::EventType;
use crate::pause::pause;

/// The time after the payment period in which the poller looks up a deposit that is neither pending nor confirming.
const POLLED_FOR: SignedDuration = SignedDuration::from_hours(24);
/// The time after the payment period in which coins may arrive. The processor accepts coins for 7 days from the
/// creation of the deposit; the eighth day is a margin.
const ADDRESS_LIFE: SignedDuration = SignedDuration::from_hours(8 * 24);

/// The result of a step of a deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DepositStep {
    /// The step was applied.
    Taken {
        /// The deposit after the step.
        deposit: Box<Deposit>,
        /// The event to publish, if any.
        event: Option<EventType>,
    },
    /// The step was applied before. Nothing changes.
    AlreadyTaken(Box<Deposit>),
}

/// The reason why a deposit cannot take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DepositError {
    /// The status does not allow the step.
    #[error("the deposit is {}", .0.as_str())]
    InvalidState(DepositStatus),
}

impl Deposit {
    /// Records the address that the payer must use.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit was abandoned, or was issued with other data.
    pub fn issue(self, issued: Issued, at: Timestamp) -> Result<DepositStep, DepositError> {
        match self.state.issued() {
            None if self.state == DepositState::Creating => {
                let due_at = Some(pause(at, 0));
                Ok(taken(Self { state: DepositState::Pending(issued), due_at, ..self }, None))
            }
            Some(known) if *known == issued => Ok(DepositStep::AlreadyTaken(Box::new(self))),
            None | Some(_) => Err(self.invalid_state()),
        }
    }

    /// Abandons a deposit without an address. The deposit stays invisible.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit was issued.
    pub fn abandon(self, at: Timestamp) -> Result<DepositStep, DepositError> {
        match self.state {
            DepositState::Creating => Ok(taken(Self { state: DepositState::Abandoned { at }, ..self }, None)),
            DepositState::Abandoned { .. } => Ok(DepositStep::AlreadyTaken(Box::new(self))),
            DepositState::Pending(_)
            | DepositState::Confirming(_)
            | DepositState::Completed { .. }
            | DepositState::Underpaid { .. }
            | DepositState::Expired { .. }
            | DepositState::Failed { .. }
            | DepositState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Reopens an abandoned deposit at a new price.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit is not abandoned.
    pub fn reopen(self, price: DepositPrice) -> Result<DepositStep, DepositError> {
        let DepositState::Abandoned { .. } = self.state else { return Err(self.invalid_state()) };
        Ok(taken(Self { state: DepositState::Creating, price, ..self }, None))
    }

    /// Records that a payment was seen on the chain. A deposit that has expired or failed becomes confirming too.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit was not issued, or if the coins were returned.
    pub fn start_confirming(self, tx_hash: Option<String>, at: Timestamp) -> Result<DepositStep, DepositError> {
        match &self.state {
            DepositState::Pending(issued)
            | DepositState::Expired { issued, .. }
            | DepositState::Failed { issued, .. } => {
                let (state, tx_hash) = (DepositState::Confirming(issued.clone()), tx_hash.or(self.tx_hash.clone()));
                Ok(taken(Self { state, tx_hash, attempts: 0, due_at: Some(pause(at, 0)), ..self }, None))
            }
            DepositState::Confirming(_) | DepositState::Completed { .. } | DepositState::Underpaid { .. } => {
                Ok(DepositStep::AlreadyTaken(Box::new(self)))
            }
            DepositState::Creating | DepositState::Abandoned { .. } | DepositState::Refunded { .. } => {
                Err(self.invalid_state())
            }
        }
    }

    /// Records that the payment has enough confirmations. The credit follows when the processor has the coins.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit was not issued, or if the coins were returned.
    pub fn confirm(self, tx_hash: Option<String>, at: Timestamp) -> Result<DepositStep, DepositError> {
        match self.start_confirming(tx_hash.clone(), at)? {
            DepositStep::Taken { deposit, .. } | DepositStep::AlreadyTaken(deposit)
                if deposit.confirmed_at.is_none() =>
            {
                let (confirmed_at, tx_hash) = (Some(at), tx_hash.or_else(|| deposit.tx_hash.clone()));
                let confirmed = Self { confirmed_at, tx_hash, ..*deposit };
                Ok(taken(confirmed, Some(EventType::CryptoDepositConfirmed)))
            }
            step @ (DepositStep::Taken { .. } | DepositStep::AlreadyTaken(_)) => Ok(step),
        }
    }

    /// Records that the payment period ended without coins. If the processor ended the period early, the period ends at
    /// `at`, and later coins are late.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit is neither pending nor expired.
    pub fn expire(self, at: Timestamp) -> Result<DepositStep, DepositError> {
        match &self.state {
            DepositState::Pending(issued) => {
                let issued = Issued { expires_at: issued.expires_at.min(at), ..issued.clone() };
                let state = DepositState::Expired { issued, at };
                Ok(taken(Self { state, ..self }, Some(EventType::CryptoDepositExpired)))
            }
            DepositState::Expired { .. } => Ok(DepositStep::AlreadyTaken(Box::new(self))),
            DepositState::Creating
            | DepositState::Abandoned { .. }
            | DepositState::Confirming(_)
            | DepositState::Completed { .. }
            | DepositState::Underpaid { .. }
            | DepositState::Failed { .. }
            | DepositState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Records that the processor reports an error, and that no money was credited.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit was not issued, if money was credited, or if the coins were
    /// returned.
    pub fn fail(self, at: Timestamp) -> Result<DepositStep, DepositError> {
        match &self.state {
            DepositState::Pending(issued) | DepositState::Confirming(issued) | DepositState::Expired { issued, .. } => {
                let state = DepositState::Failed { issued: issued.clone(), at };
                Ok(taken(Self { state, ..self }, Some(EventType::CryptoDepositFailed)))
            }
            DepositState::Failed { .. } => Ok(DepositStep::AlreadyTaken(Box::new(self))),
            DepositState::Creating
            | DepositState::Abandoned { .. }
            | DepositState::Completed { .. }
            | DepositState::Underpaid { .. }
            | DepositState::Refunded { .. } => Err(self.invalid_state()),
        }
    }

    /// Records that the processor returned the coins to the payer before any credit. If the coins were credited before,
    /// an operator must decide instead.
    ///
    /// # Errors
    /// [`DepositError::InvalidState`] if the deposit was not issued, or if money was credited.
    pub fn refund(self, at: Timestamp) -> Result<DepositStep, DepositError> {
        match &self.state {
            DepositState::Pending(issued)
            | DepositState::Confirming(issued)
            | DepositState::Expired { issued, .. }
            | DepositState::Failed { issued, .. } => {
                let state = DepositState::Refunded { issued: issued.clone(), at };
                Ok(taken(Self { state, ..self }, Some(EventType::CryptoDepositFailed)))
            }
            DepositState::Refunded { .. } => Ok(DepositStep::AlreadyTaken(Box::new(self))),
            DepositState::Creating
            | DepositState::Abandoned { .. }
            | DepositState::Completed { .. }
            | DepositState::Underpaid { .. } => Err(self.invalid_state()),
        }
    }

    /// Records that a payment waits for an operator. Returns the deposit and the events to publish.
    ///
    /// Only coins that are too late or too many change the deposit. Such coins are confirmed on the chain, so the
    /// deposit shows them before the decision:
    /// - The first confirmation is recorded, with its event.
    /// - The resolution is set, if nothing is credited and no resolution is set.
    /// - If the coins are too late, a pending deposit expires.
    /// - If the first payment has too many coins, a pending deposit becomes confirming.
    #[must_use]
    pub fn await_decision(self, payment: &DepositPayment, at: Timestamp) -> (Self, Vec<EventType>) {
        let Some(shown) = payment.resolution_in_review() else { return (self, Vec::new()) };
        let (state, ended) = match &self.state {
            DepositState::Pending(issued) if shown == Resolution::Late => {
                (DepositState::Expired { issued: issued.clone(), at }, Some(EventType::CryptoDepositExpired))
            }
            DepositState::Pending(issued) if issued.payment == payment.id => {
                (DepositState::Confirming(issued.clone()), None)
            }
            DepositState::Creating
            | DepositState::Abandoned { .. }
            | DepositState::Pending(_)
            | DepositState::Confirming(_)
            | DepositState::Completed { .. }
            | DepositState::Underpaid { .. }
            | DepositState::Expired { .. }
            | DepositState::Failed { .. }
            | DepositState::Refunded { .. } => (self.state.clone(), None),
        };
        let first = self.confirmed_at.is_none().then_some(EventType::CryptoDepositConfirmed);
        let resolution = if self.is_credited() { self.resolution } else { self.resolution.or(Some(shown)) };
        let confirmed_at = self.confirmed_at.or(Some(at));
        (Self { state, resolution, confirmed_at, ..self }, ended.into_iter().chain(first).collect())
    }

    /// Records that an operator dismissed a payment. A confirming deposit fails if this is its first payment.
    #[must_use]
    pub fn end_by_dismissal(self, payment: &DepositPayment, at: Timestamp) -> DepositStep {
        match &self.state {
            DepositState::Confirming(issued) if issued.payment == payment.id => {
                let state = DepositState::Failed { issued: issued.clone(), at };
                taken(Self { state, ..self }, Some(EventType::CryptoDepositFailed))
            }
            DepositState::Creating
            | DepositState::Abandoned { .. }
            | DepositState::Pending(_)
            | DepositState::Confirming(_)
            | DepositState::Completed { .. }
            | DepositState::Underpaid { .. }
            | DepositState::Expired { .. }
            | DepositState::Failed { .. }
            | DepositState::Refunded { .. } => DepositStep::AlreadyTaken(Box::new(self)),
        }
    }

    /// Schedules the next poll. The pause before the poll doubles each time, up to [`crate::pause::MAX_PAUSE`]. A
    /// deposit that is neither pending nor confirming is polled until a day after its payment period.
    #[must_use]
    pub fn schedule_next_poll(self, at: Timestamp) -> Self {
        let attempts = self.attempts.saturating_add(1);
        let is_open = matches!(self.state, DepositState::Pending(_) | DepositState::Confirming(_));
        let due_at = (is_open || self.is_within(POLLED_FOR, at)).then(|| pause(at, attempts));
        Self { due_at, attempts, ..self }
    }

    /// Returns whether a payment that was seen at `at` is early enough for a credit at the deposit's rate.
    #[must_use]
    pub fn accepts_payment_of(&self, at: Timestamp) -> bool {
        self.is_within(LATE_CREDIT_WINDOW, at)
    }

    /// Returns whether the requested coins, or the missing part of them, may still arrive at `at`.
    #[must_use]
    pub fn awaits_coins(&self, at: Timestamp) -> bool {
        let is_unpaid = matches!(
            self.state,
            DepositState::Pending(_)
                | DepositState::Confirming(_)
                | DepositState::Expired { .. }
                | DepositState::Failed { .. }
                | DepositState::Underpaid { .. }
        );
        is_unpaid && self.is_within(ADDRESS_LIFE, at)
    }

    /// Returns whether `at` is at most `margin` after the end of the payment period.
    fn is_within(&self, margin: SignedDuration, at: Timestamp) -> bool {
        let end = self.state.issued().and_then(|issued| issued.expires_at.checked_add(margin).ok());
        end.is_some_and(|end| at <= end)
    }

    pub(super) const fn invalid_state(&self) -> DepositError {
        DepositError::InvalidState(self.state.status())
    }
}

fn taken(deposit: Deposit, event: Option<EventType>) -> DepositStep {
    DepositStep::Taken { deposit: Box::new(deposit), event }
}
