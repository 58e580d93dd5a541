//! Lanes that wait for their turn, each once, in one row for each standing.

use std::collections::{HashSet, VecDeque};

use cais_ports::Lane;

/// What is known of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It answers.
    Trusted,
    /// It has not been called yet, or failed without keeping anybody waiting.
    Unproven,
    /// It keeps calls waiting.
    Doubtful,
}

impl Standing {
    /// Every standing, this one first.
    pub(super) const fn and_others(self) -> [Self; 3] {
        match self {
            Self::Trusted => [Self::Trusted, Self::Unproven, Self::Doubtful],
            Self::Unproven => [Self::Unproven, Self::Doubtful, Self::Trusted],
            Self::Doubtful => [Self::Doubtful, Self::Trusted, Self::Unproven],
        }
    }
}

/// The rows.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    trusted: VecDeque<Lane>,
    unproven: VecDeque<Lane>,
    doubtful: VecDeque<Lane>,
    present: HashSet<Lane>,
}

impl Waiting {
    /// The lane is the last of its row, unless it waits already.
    pub(super) fn push_back(&mut self, standing: Standing, lane: Lane) {
        if self.present.insert(lane) {
            self.row(standing).push_back(lane);
        }
    }

    /// The lane is the next of its row, unless it waits already.
    pub(super) fn push_front(&mut self, standing: Standing, lane: Lane) {
        if self.present.insert(lane) {
            self.row(standing).push_front(lane);
        }
    }

    /// Whether nobody waits in the row.
    pub(super) fn is_empty(&mut self, standing: Standing) -> bool {
        self.row(standing).is_empty()
    }

    /// The next of the row.
    pub(super) fn pop(&mut self, standing: Standing) -> Option<Lane> {
        let lane = self.row(standing).pop_front()?;
        self.present.remove(&lane);
        Some(lane)
    }

    const fn row(&mut self, standing: Standing) -> &mut VecDeque<Lane> {
        match standing {
            Standing::Trusted => &mut self.trusted,
            Standing::Unproven => &mut self.unproven,
            Standing::Doubtful => &mut self.doubtful,
        }
    }
}
