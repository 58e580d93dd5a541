//! The items of an acquirer's callback.

use cais_domain::crypto::ProcessorId;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use jiff::Timestamp;

use crate::upstream_infraction::CallbackInfraction;

/// The signatures of a callback: the headers whose names end with `-signature`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallbackSignatures(Vec<(String, String)>);

impl CallbackSignatures {
    /// Returns the signatures among the headers of a request.
    #[must_use]
    pub fn of_headers<'h>(headers: impl IntoIterator<Item = (&'h str, &'h str)>) -> Self {
        let kept = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        Self(kept.filter(|(name, _)| name.ends_with("-signature")).collect())
    }

    /// Returns the value of a header. `name` must be in lower case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// An item of a callback: a signal to read the records of the acquirer or processor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CallbackItem {
    /// A received Pix, or a return of it.
    Received(CallbackPix),
    /// A sent Pix, or a return of it. The callback contains the instruction id.
    Sent(CallbackPayout),
    /// A return of a sent Pix. The callback contains the end-to-end id of the Pix, but no instruction id.
    PayoutReturn(CallbackReturn),
    /// An infraction that was opened or changed.
    Infraction(CallbackInfraction),
    /// A payment at a crypto processor. The processor's record identifies the deposit.
    CryptoPayment(ProcessorId),
}

/// A received Pix in a callback.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallbackPix {
    /// The txid of the charge.
    pub txid: Txid,
    /// The end-to-end id, if it can be read. The callback is done only after this Pix is credited, or was returned in
    /// full.
    pub end_to_end_id: Option<EndToEndId>,
    /// The instant of receipt, as the callback reports it. The service searches the acquirer's list of received Pix
    /// around this instant.
    pub paid_at: Option<Timestamp>,
}

/// The return of a sent Pix in a callback.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallbackReturn {
    /// The end-to-end id of the sent Pix.
    pub end_to_end_id: EndToEndId,
    /// The id of the return. The callback is done only after this return is credited.
    pub return_id: ReturnId,
}

/// A sent Pix in a callback.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallbackPayout {
    /// The identifier at the acquirer.
    pub instruction_id: InstructionId,
    /// The ids of the returns that can be read. The callback is done only after each of them is credited.
    pub returns: Vec<ReturnId>,
}
