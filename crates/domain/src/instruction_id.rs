//! The identifier of a payout at the acquirer, chosen by this service (ISO 20022 `InstrId`, `idEnvio` at Efí).

use std::fmt;

use crate::ids::PayoutId;

/// The maximum length, in characters.
const MAX_LENGTH: usize = 35;

/// An instruction id: 1 to 35 ASCII letters and digits, case-sensitive. An acquirer sends only one Pix per instruction
/// id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstructionId(String);

/// The error for a text that is not 1 to 35 ASCII letters and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an instruction id must have 1 to 35 ASCII letters and digits")]
pub struct InstructionIdError;

impl InstructionId {
    /// Returns the identifier of a payout: the payout's id without its prefix. Every request for the payout has the
    /// same identifier, so that no acquirer sends a second Pix.
    #[must_use]
    pub fn of_payout(payout: PayoutId) -> Self {
        Self(payout.suffix())
    }

    /// Parses an identifier.
    ///
    /// # Errors
    /// [`InstructionIdError`].
    pub fn parse(text: &str) -> Result<Self, InstructionIdError> {
        let valid = (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if valid { Ok(Self(text.to_owned())) } else { Err(InstructionIdError) }
    }

    /// Returns the id of the payout with this identifier. Returns `None` if the identifier cannot be the id of a payout
    /// without its prefix.
    #[must_use]
    pub fn payout(&self) -> Option<PayoutId> {
        PayoutId::from_suffix(&self.0).ok()
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstructionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
