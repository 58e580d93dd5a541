//! Time and identity, so that nothing below the use cases reads the clock or rolls the dice.

use jiff::Timestamp;
use uuid::Uuid;

/// The clock.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Clock: Send + Sync {
    /// The instant now, in whole microseconds (what the stores keep).
    fn now(&self) -> Timestamp;
}

/// New identifiers.
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait Ids: Send + Sync {
    /// A new UUID of version 7, greater than every one that this source gave before.
    fn next_uuid(&self) -> Uuid;
}
