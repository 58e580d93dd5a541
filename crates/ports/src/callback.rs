//! Callbacks from acquirers: hints, stored until the acquirer's records are read.

use std::collections::BTreeMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::CallbackId;
use jiff::Timestamp;

/// The state of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackState {
    /// The acquirer's records are still to be read.
    Waiting,
    /// The records were read, and their effects are committed.
    Done,
    /// The callback matches no resource of ours, or is unreadable; an operator must act.
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
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Waiting, Self::Done, Self::Unmatched].into_iter().find(|state| state.as_str() == word)
    }
}

/// The ids in a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// The public identifier.
    pub id: CallbackId,
    /// The calling acquirer, by the path of the call.
    pub acquirer: AcquirerName,
    /// The ids, encoded by the use case. The rest of the callback is not stored.
    pub body: Vec<u8>,
    /// The instant of receipt.
    pub received_at: Timestamp,
    /// The state.
    pub state: CallbackState,
    /// The number of reads of the acquirer's records.
    pub attempts: u32,
    /// The instant of the next read; `None` unless waiting.
    pub due_at: Option<Timestamp>,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// The numbers of callbacks by acquirer. Acquirers without callbacks are absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallbackCounts {
    /// Waiting callbacks, counted to [`CallbackCounts::MOST_OPEN`] over all acquirers.
    pub open: BTreeMap<AcquirerName, u64>,
    /// Unmatched callbacks.
    pub unmatched: BTreeMap<AcquirerName, u64>,
}

impl CallbackCounts {
    /// The limit of the count, which keeps counting cheap: five acquirers at their limit. A greater number means the
    /// same.
    pub const MOST_OPEN: u32 = 500_000;
}
