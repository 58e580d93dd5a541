//! The queues that wait for a claim. Each class of endpoints has its own list, and a queue is in at most one list.

use std::collections::{HashSet, VecDeque};

use cais_ports::EndpointQueue;

/// The class of an endpoint at this node. The last attempt, or a call in flight, decides the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndpointClass {
    /// The last attempt succeeded in less than two seconds.
    Healthy,
    /// The endpoint was not called yet, or the last attempt failed in less than two seconds.
    Unknown,
    /// The last attempt, or a call in flight, lasted two seconds or more.
    Slow,
}

impl EndpointClass {
    /// Returns all three classes in their cyclic order, beginning with this class.
    pub(super) const fn in_cyclic_order(self) -> [Self; 3] {
        match self {
            Self::Healthy => [Self::Healthy, Self::Unknown, Self::Slow],
            Self::Unknown => [Self::Unknown, Self::Slow, Self::Healthy],
            Self::Slow => [Self::Slow, Self::Healthy, Self::Unknown],
        }
    }
}

/// A list of waiting queues for each class. `present` has the queues of all three lists.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    healthy: VecDeque<EndpointQueue>,
    unknown: VecDeque<EndpointQueue>,
    slow: VecDeque<EndpointQueue>,
    present: HashSet<EndpointQueue>,
}

impl Waiting {
    /// Appends the queue to the list of the class, unless the queue is already in a list.
    pub(super) fn push_back(&mut self, class: EndpointClass, queue: EndpointQueue) {
        if self.present.insert(queue) {
            self.list(class).push_back(queue);
        }
    }

    /// Puts the queue first in the list of the class, unless the queue is already in a list.
    pub(super) fn push_front(&mut self, class: EndpointClass, queue: EndpointQueue) {
        if self.present.insert(queue) {
            self.list(class).push_front(queue);
        }
    }

    /// Returns whether no queue of the class waits.
    pub(super) fn is_empty(&mut self, class: EndpointClass) -> bool {
        self.list(class).is_empty()
    }

    /// Removes and returns the first queue in the list of the class.
    pub(super) fn pop(&mut self, class: EndpointClass) -> Option<EndpointQueue> {
        let queue = self.list(class).pop_front()?;
        self.present.remove(&queue);
        Some(queue)
    }

    const fn list(&mut self, class: EndpointClass) -> &mut VecDeque<EndpointQueue> {
        match class {
            EndpointClass::Healthy => &mut self.healthy,
            EndpointClass::Unknown => &mut self.unknown,
            EndpointClass::Slow => &mut self.slow,
        }
    }
}
