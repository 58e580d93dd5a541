//! The events that an endpoint subscribes to.

use std::collections::BTreeSet;

use crate::event::EventType;

/// The name that stands for all event types, including those of later versions of the service.
const ALL: &str = "*";

/// The events that an endpoint subscribes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subscription {
    /// Every event, including events of types that later versions add.
    All,
    /// Events of these types. The set is never empty.
    Types(BTreeSet<EventType>),
}

/// The reason why a list of names is not a valid subscription. Messages are safe to show to clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// The list is empty.
    #[error("must name at least one event type, or \"*\"")]
    Empty,
    /// A name is not an event type. The value is the index of this name in the list.
    #[error("is not an event type")]
    Unknown(usize),
}

impl Subscription {
    /// Parses a list of event types, such as `charge.paid`. If `*` is in the list, the subscription includes every
    /// event.
    ///
    /// # Errors
    /// [`SubscriptionError`].
    pub fn parse<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, SubscriptionError> {
        let (mut types, mut all) = (BTreeSet::new(), false);
        for (place, name) in names.into_iter().enumerate() {
            match EventType::parse(name) {
                Some(kind) => {
                    types.insert(kind);
                }
                None if name == ALL => all = true,
                None => return Err(SubscriptionError::Unknown(place)),
            }
        }
        match (all, types.is_empty()) {
            (true, _) => Ok(Self::All),
            (false, false) => Ok(Self::Types(types)),
            (false, true) => Err(SubscriptionError::Empty),
        }
    }

    /// Returns the names of the event types in the order of [`EventType`], or only `*` for [`Subscription::All`].
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::All => vec![ALL],
            Self::Types(types) => types.iter().map(|kind| kind.as_str()).collect(),
        }
    }

    /// Returns whether the subscription includes events of this type.
    #[must_use]
    pub fn includes(&self, kind: EventType) -> bool {
        match self {
            Self::All => true,
            Self::Types(types) => types.contains(&kind),
        }
    }
}
