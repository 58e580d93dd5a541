//! The simulated institution, with the operations for testers.

use std::time::Duration;

use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_strict_json::Issue;

use super::{InfractionRequest, Resolution};
use crate::error::{ApiError, ErrorCode};

/// A failure that the sandbox simulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultMode {
    /// No failure.
    Ok,
    /// Every call is rejected at once and has no effect.
    Down,
    /// Every response is delayed.
    Slow,
    /// The call has its effect, but the response is lost.
    DropReply,
    /// The call returns 500 and has no effect.
    Error,
}

impl FaultMode {
    /// Every mode.
    pub const ALL: [Self; 5] = [Self::Ok, Self::Down, Self::Slow, Self::DropReply, Self::Error];

    /// Returns the value of `mode` in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Down => "down",
            Self::Slow => "slow",
            Self::DropReply => "drop_reply",
            Self::Error => "error",
        }
    }
}

/// The reason why the simulated institution did not make a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstitutionError {
    /// The state of the payment does not permit the change.
    #[error("{0}")]
    InvalidState(String),
    /// A value out of range; only the institution can check this range.
    #[error("{path} {rule}")]
    OutOfRange {
        /// The field of the request.
        path: &'static str,
        /// The rule, in words that follow the name of the field.
        rule: &'static str,
    },
    /// Any other failure, with the reason for the log.
    #[error("{0}")]
    Failed(String),
}

impl From<InstitutionError> for ApiError {
    fn from(error: InstitutionError) -> Self {
        match error {
            InstitutionError::InvalidState(reason) => {
                Self::new(ErrorCode::InvalidState).with_message(format!("The institution refused: {reason}."))
            }
            InstitutionError::OutOfRange { path, rule } => Self::invalid(vec![Issue::new(path, rule)]),
            InstitutionError::Failed(cause) => Self::internal(cause),
        }
    }
}

/// The simulated institution, with the operations for testers. Its methods may write to disk, so async code calls them on another thread.
pub trait Institution: Send + Sync {
    /// Pays a charge, by default its full amount.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn pay(&self, txid: &Txid, amount: Option<Money>) -> Result<(), InstitutionError>;

    /// Expires a charge.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn expire(&self, txid: &Txid) -> Result<(), InstitutionError>;

    /// Returns the whole amount of a payout to the service, as the recipient of the payout would.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn return_sent(&self, instruction_id: &InstructionId) -> Result<(), InstitutionError>;

    /// Makes a refund of a received Pix fail.
    ///
    /// # Errors
    /// [`InstitutionError`]; [`InstitutionError::InvalidState`] if the refund has completed or failed already.
    fn fail_refund(&self, end_to_end_id: &EndToEndId, refund: RefundId) -> Result<(), InstitutionError>;

    /// Disputes a received Pix as its payer. Returns the institution's id of the infraction.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn open_infraction(
        &self,
        end_to_end_id: &EndToEndId,
        request: InfractionRequest,
    ) -> Result<String, InstitutionError>;

    /// Resolves an infraction.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn resolve_infraction(&self, upstream_id: &str, resolution: Resolution) -> Result<(), InstitutionError>;

    /// Sets the failure that the institution simulates from now on. `latency` is the delay of [`FaultMode::Slow`].
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn set_faults(&self, mode: FaultMode, latency: Duration) -> Result<(), InstitutionError>;

    /// Sets the offset of the institution's clock from the machine's clock, in seconds.
    ///
    /// # Errors
    /// [`InstitutionError`].
    fn set_clock_offset(&self, offset_s: i64) -> Result<(), InstitutionError>;
}
