//! `/v1/sandbox/crypto/…`: the simulated payer, chain and processor, for tests against the built-in sandbox.

pub mod deposits;
pub mod market;
pub mod notifications;
pub mod withdrawals;

use std::sync::Arc;
use std::time::Duration;

use cais_domain::crypto::ProcessorId;

use self::market::{SandboxCoin, SandboxCoinChange, SandboxDollar, SandboxDollarChange};
use self::notifications::{SandboxNotifications, SandboxNotificationsChange};
use super::{FaultMode, InstitutionError, blocking, controls};
use crate::error::{ApiError, ErrorCode};
use crate::state::AppState;

/// The name of the crypto processor in requests to `/v1/sandbox/faults`.
pub const CRYPTO: &str = "crypto";
/// Time limit for the service to apply a change at the processor. Usually the service needs a few milliseconds.
const APPLIED_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two reads of a resource, until the change is applied.
const READ_EVERY: Duration = Duration::from_millis(100);

/// Coins that a payer sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentCoins {
    /// The amount, a decimal; `None` means the requested coins.
    pub amount: Option<String>,
    /// The code of another currency; `None` means the currency of the deposit.
    pub currency: Option<String>,
    /// `true`: the payment stays `confirming` until the tester moves it.
    pub hold: bool,
}

/// A status at the processor to which a tester can move a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentStep {
    /// The chain has confirmed the payment.
    Confirmed,
    /// The processor moves the coins to the service's balance.
    Sending,
    /// The coins are in the service's balance.
    Finished,
    /// Fewer coins than requested are in the service's balance.
    PartiallyPaid,
    /// The processor reports an error.
    Failed,
    /// The processor returned the coins to the payer.
    Refunded,
}

impl PaymentStep {
    /// All steps.
    pub const ALL: [Self; 6] =
        [Self::Confirmed, Self::Sending, Self::Finished, Self::PartiallyPaid, Self::Failed, Self::Refunded];

    /// Returns the name in requests, which is the processor's own name of the status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Sending => "sending",
            Self::Finished => "finished",
            Self::PartiallyPaid => "partially_paid",
            Self::Failed => "failed",
            Self::Refunded => "refunded",
        }
    }
}

/// The way in which a withdrawal fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithdrawalFailure {
    /// The processor rejects the withdrawal for good.
    Rejected,
    /// The processor reports an error, and may still send the coins.
    Failed,
}

impl WithdrawalFailure {
    /// All ways.
    pub const ALL: [Self; 2] = [Self::Rejected, Self::Failed];

    /// Returns the name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Failed => "failed",
        }
    }
}

/// The simulated crypto processor, with the operations for testers. Its methods may write to disk.
///
/// The argument `payment` is the processor's id of the payment record that it created together with the address of a deposit.
pub trait SimulatedProcessor: Send + Sync {
    /// Sends coins to the address of `payment`, as a payer would.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn pay(&self, payment: &ProcessorId, coins: &SentCoins) -> Result<(), InstitutionError>;

    /// Ends the payment period of `payment`.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn expire(&self, payment: &ProcessorId) -> Result<(), InstitutionError>;

    /// Moves the newest payment to the address of `payment` to the status `to`.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn move_payment(&self, payment: &ProcessorId, to: PaymentStep) -> Result<(), InstitutionError>;

    /// Makes the withdrawal of `batch` fail before its coins are sent.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn fail_withdrawal(&self, batch: &ProcessorId, failure: WithdrawalFailure) -> Result<(), InstitutionError>;

    /// Sets the failure that all further calls of the processor simulate. `latency` is the delay of [`FaultMode::Slow`].
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError>;

    /// Sets values of a currency. Returns all values of the currency.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn set_coin(&self, change: &SandboxCoinChange) -> Result<SandboxCoin, InstitutionError>;

    /// Sets the rate of the US dollar. Returns the newest published rate.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn set_dollar(&self, change: &SandboxDollarChange) -> Result<SandboxDollar, InstitutionError>;

    /// Sets the way in which notifications are sent. Returns all settings of notifications.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn set_notifications(&self, change: &SandboxNotificationsChange) -> Result<SandboxNotifications, InstitutionError>;
}

/// Runs a step of the simulated processor.
///
/// # Errors
/// `invalid_state` if the processor refuses the step in the current state; `VALIDATION_ERROR` for a value out of range; `internal_error`
/// if the sandbox fails.
async fn simulate(step: impl FnOnce() -> Result<(), InstitutionError> + Send + 'static) -> Result<(), ApiError> {
    blocking(|| Ok(step())).await?.map_err(|error| match error {
        InstitutionError::InvalidState(reason) => {
            ApiError::new(ErrorCode::InvalidState).with_message(format!("The crypto processor refused: {reason}."))
        }
        InstitutionError::OutOfRange { .. } | InstitutionError::Failed(_) => error.into(),
    })
}

fn processor(state: &AppState) -> Result<&Arc<dyn SimulatedProcessor>, ApiError> {
    Ok(&controls(state)?.processor)
}
