//! `/v1/sandbox/crypto/…`: the payer, the chain and the processor, for tests against the built-in sandbox.

pub mod deposits;
pub mod withdrawals;

use std::sync::Arc;
use std::time::Duration;

use cais_domain::crypto::ProcessorId;

use super::{FaultMode, InstitutionError, controls};
use crate::error::ApiError;
use crate::state::AppState;

/// The name of the crypto processor in requests for faults.
pub const CRYPTO: &str = "crypto";
/// Time limit for the service to process a change at the processor; usually a few milliseconds.
const APPLIED_WITHIN: Duration = Duration::from_secs(5);
/// Pause between two reads.
const READ_EVERY: Duration = Duration::from_millis(100);

/// Coins that a payer sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentCoins {
    /// The amount, a decimal; `None` means the requested coins.
    pub amount: Option<String>,
    /// The code of another coin.
    pub currency: Option<String>,
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
pub trait SimulatedProcessor: Send + Sync {
    /// Sends coins to the address of a payment.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn pay(&self, payment: &ProcessorId, coins: &SentCoins) -> Result<(), InstitutionError>;

    /// Ends the time of a payment.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn expire(&self, payment: &ProcessorId) -> Result<(), InstitutionError>;

    /// Makes a withdrawal fail before its coins are sent.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn fail_withdrawal(&self, batch: &ProcessorId, failure: WithdrawalFailure) -> Result<(), InstitutionError>;

    /// Sets the failure of all further calls.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError>;
}

fn processor(state: &AppState) -> Result<Arc<dyn SimulatedProcessor>, ApiError> {
    Ok(Arc::clone(&controls(state)?.processor))
}
