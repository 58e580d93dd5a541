//! Callbacks from acquirers. A callback is a hint, stored until the acquirer's records are read.

use std::collections::BTreeMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::CallbackId;
use jiff::Timestamp;

/// The state of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackState {
    /// The acquirer's records were not read to the end yet.
    Waiting,
    /// The acquirer's records were read, and their effects are committed.
    Done,
    /// The callback matches no resource of this service, or cannot be read. An operator must act.
    Unmatched,
}

impl CallbackState {
    /// Returns the name in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Unmatched => "unmatched",
        }
    }

    /// Returns the state with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Waiting, Self::Done, Self::Unmatched].into_iter().find(|state| state.as_str() == name)
    }
}

/// A callback, with its identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// The public identifier.
    pub id: CallbackId,
    /// The acquirer that sent the callback. The path of the request names the acquirer.
    pub acquirer: AcquirerName,
    /// The identifiers in the callback, as the use case encodes them. No other part is stored.
    pub body: Vec<u8>,
    /// The instant at which the callback was received.
    pub received_at: Timestamp,
    /// The state.
    pub state: CallbackState,
    /// The number of reads of the acquirer's records.
    pub attempts: u32,
    /// The instant of the next read. `None` if the callback does not wait.
    pub due_at: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// The numbers of callbacks by acquirer. An acquirer without callbacks has no entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallbackCounts {
    /// The waiting callbacks. The count over all acquirers stops at [`CallbackCounts::MOST_OPEN`].
    pub open: BTreeMap<AcquirerName, u64>,
    /// Unmatched callbacks.
    pub unmatched: BTreeMap<AcquirerName, u64>,
}

impl CallbackCounts {
    /// The limit of the count, which keeps counting cheap. The limit is enough for five acquirers with 100,000 open
    /// callbacks each, the most that the service accepts.
    pub const MOST_OPEN: u32 = 500_000;
}
