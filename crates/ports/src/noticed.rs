//! The items that an acquirer's callback names.

use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use jiff::Timestamp;

use crate::upstream_infraction::NoticedInfraction;

/// An item that a callback names: a hint of what to read from the acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Noticed {
    /// A Pix that was received, or a return of it.
    Received(NoticedPix),
    /// A Pix that was sent, or came back.
    Sent(NoticedPayout),
    /// An infraction that was opened or changed.
    Infraction(NoticedInfraction),
}

/// A received Pix as a callback names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NoticedPix {
    /// The charge that it is for.
    pub txid: Txid,
    /// The Pix, where it is named readably: it must be found upstream before the callback is done with.
    pub end_to_end_id: Option<EndToEndId>,
    /// When the callback says that it was received: a hint for where it stands in the acquirer's list.
    pub paid_at: Option<Timestamp>,
}

/// A sent Pix as a callback names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NoticedPayout {
    /// Its name.
    pub instruction_id: InstructionId,
    /// What came back of it, where it is named readably: each must be credited before the callback is done with.
    pub returns: Vec<ReturnId>,
}
