//! The expected values of an answer about a sent Pix, and the largest stored lengths of its texts.

use cais_domain::instruction_id::InstructionId;
use cais_ports::PayoutOrder;

/// The longest kept name of a recipient, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 200;
/// The longest kept document, in characters: a CNPJ with punctuation has 18.
pub(crate) const MAX_DOCUMENT_CHARS: usize = 20;
/// The longest kept reason of a failure, in characters.
pub(crate) const MAX_REASON_CHARS: usize = 140;

/// The expected values of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) instruction_id: &'a InstructionId,
    /// The order whose amount and key the answer must have; `None` for a read that follows no order.
    pub(crate) order: Option<&'a PayoutOrder>,
}

impl<'a> Expected<'a> {
    /// Expects any sent Pix with the identifier.
    pub(crate) fn payout(instruction_id: &'a InstructionId) -> Self {
        Self { instruction_id, order: None }
    }

    /// Expects the ordered sent Pix.
    pub(crate) fn ordered(order: &'a PayoutOrder) -> Self {
        Self { instruction_id: &order.instruction_id, order: Some(order) }
    }
}
