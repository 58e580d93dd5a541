//! The queues that wait for a claim. Each class of endpoints has a row, and each queue waits at most once.

use std::collections::{HashSet, VecDeque};

use cais_ports::EndpointQueue;

/// The class of an endpoint at this node. The last response decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndpointClass {
    /// The last attempt succeeded within two seconds.
    Healthy,
    /// The endpoint was not called yet, or the last attempt failed within two seconds.
    Unknown,
    /// A call lasted two seconds or more.
    Slow,
}

impl EndpointClass {
    /// Returns all classes. This class comes first.
    pub(super) const fn and_others(self) -> [Self; 3] {
        match self {
            Self::Healthy => [Self::Healthy, Self::Unknown, Self::Slow],
            Self::Unknown => [Self::Unknown, Self::Slow, Self::Healthy],
            Self::Slow => [Self::Slow, Self::Healthy, Self::Unknown],
        }
    }
}

/// The waiting queues.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    healthy: VecDeque<EndpointQueue>,
    unknown: VecDeque<EndpointQueue>,
    slow: VecDeque<EndpointQueue>,
    present: HashSet<EndpointQueue>,
}

impl Waiting {
    /// Appends the queue to the row of its class, unless the queue already waits.
    pub(super) fn push_back(&mut self, class: EndpointClass, queue: EndpointQueue) {
        if self.present.insert(queue) {
            self.row(class).push_back(queue);
        }
    }

    /// Puts the queue first in the row of its class, unless the queue already waits.
    pub(super) fn push_front(&mut self, class: EndpointClass, queue: EndpointQueue) {
        if self.present.insert(queue) {
            self.row(class).push_front(queue);
        }
    }

    /// Returns whether the row of the class is empty.
    pub(super) fn is_empty(&mut self, class: EndpointClass) -> bool {
        self.row(class).is_empty()
    }

    /// Removes and returns the first queue of the class.
    pub(super) fn pop(&mut self, class: EndpointClass) -> Option<EndpointQueue> {
        let queue = self.row(class).pop_front()?;
        self.present.remove(&queue);
        Some(queue)
    }

    const fn row(&mut self, class: EndpointClass) -> &mut VecDeque<EndpointQueue> {
        match class {
            EndpointClass::Healthy => &mut self.healthy,
            EndpointClass::Unknown => &mut self.unknown,
            EndpointClass::Slow => &mut self.slow,
        }
    }
}
