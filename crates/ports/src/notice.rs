//! What upstream called back with: a hint, kept until the truth was read.

use std::collections::BTreeMap;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::NoticeId;
use jiff::Timestamp;

/// How far a notice has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeState {
    /// The truth is still to be read.
    Waiting,
    /// The truth was read, and what follows from it is done.
    Done,
    /// It names nothing of ours, or nothing that can be read; an operator should look.
    Unmatched,
}

impl NoticeState {
    /// The word in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Unmatched => "unmatched",
        }
    }

    /// The state of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Waiting, Self::Done, Self::Unmatched].into_iter().find(|state| state.as_str() == word)
    }
}

/// The ids that a callback named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its identifier.
    pub id: NoticeId,
    /// Who called, by the path it called on.
    pub acquirer: AcquirerName,
    /// The ids as the use case writes them; nothing else of the callback.
    pub body: Vec<u8>,
    /// When.
    pub received_at: Timestamp,
    /// How far it has come.
    pub state: NoticeState,
    /// How often the truth was asked for.
    pub attempts: u32,
    /// When to ask next; `None` once it is not waiting.
    pub due_at: Option<Timestamp>,
    /// How often it was changed; the store checks it.
    pub version: i64,
}

/// Numbers of notices by the acquirer that called; an acquirer without any is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NoticeCounts {
    /// Waiting notices, counted to [`NoticeCounts::MOST_OPEN`] of all acquirers.
    pub open: BTreeMap<AcquirerName, u64>,
    /// Unmatched notices.
    pub unmatched: BTreeMap<AcquirerName, u64>,
}

impl NoticeCounts {
    /// The limit of the count: five acquirers at their bound. A greater number means the same, and counting has to stay cheap.
    pub const MOST_OPEN: u32 = 500_000;
}
