//! Which events an endpoint wants.

use std::collections::BTreeSet;

use crate::event::EventType;

/// What stands for every type, also such that come with later versions.
const ALL: &str = "*";

/// The events that an endpoint wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subscription {
    /// Every event.
    All,
    /// Events of these types; never empty.
    Types(BTreeSet<EventType>),
}

/// Why names are no subscription. The texts may be shown to the user of the API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// No name at all.
    #[error("must name at least one event type, or \"*\"")]
    Empty,
    /// Not a type; with its place.
    #[error("is not an event type")]
    Unknown(usize),
}

impl Subscription {
    /// Reads names of types; `*` among them is every event.
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

    /// The names, in the order of the types.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        match self {
            Self::All => vec![ALL],
            Self::Types(types) => types.iter().map(|kind| kind.as_str()).collect(),
        }
    }

    /// Whether it wants events of that type.
    #[must_use]
    pub fn wants(&self, kind: EventType) -> bool {
        match self {
            Self::All => true,
            Self::Types(types) => types.contains(&kind),
        }
    }
}
