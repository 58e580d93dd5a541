//! Stored callbacks. A callback is only a signal: a worker then reads the records of the acquirer or processor.

use std::collections::BTreeMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::CallbackId;
use jiff::Timestamp;

/// The state of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackState {
    /// A worker must still read the acquirer's records.
    Waiting,
    /// The acquirer's records were read, and their effects are committed. An unmatched callback is also done if its
    /// acquirer already has too many unmatched callbacks.
    Done,
    /// The callback matches no resource of this service, or the last attempt to read the acquirer's records failed. An
    /// operator must review the callback.
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
    /// The acquirer or processor that sent the callback. The path of the request names it.
    pub acquirer: AcquirerName,
    /// The identifiers in the callback and the instants of its payments, as the use case encodes them. No other part of
    /// the callback is stored.
    pub body: Vec<u8>,
    /// The instant at which the callback was received.
    pub received_at: Timestamp,
    /// The state.
    pub state: CallbackState,
    /// The number of attempts to read the acquirer's records.
    pub attempts: u32,
    /// The instant of the next attempt. `None` if the callback is done or unmatched.
    pub due_at: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// The numbers of waiting and of unmatched callbacks, by acquirer. An acquirer without callbacks has no entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallbackCounts {
    /// The waiting callbacks. The count over all acquirers stops at [`CallbackCounts::MOST_OPEN`].
    pub open: BTreeMap<AcquirerName, u64>,
    /// Unmatched callbacks.
    pub unmatched: BTreeMap<AcquirerName, u64>,
}

impl CallbackCounts {
    /// The limit of the count of waiting callbacks, which keeps counting cheap. The service accepts at most 100,000 of
    /// them per acquirer, so the limit is enough for five acquirers.
    pub const MOST_OPEN: u32 = 500_000;
}
