//! Time and identifiers. Code below the use cases reads neither the clock nor random numbers.

use jiff::Timestamp;
use uuid::Uuid;

/// The clock.
pub trait Clock: Send + Sync {
    /// Returns the current instant, in whole microseconds like the stores.
    fn now(&self) -> Timestamp;
}

/// The source of new identifiers.
pub trait IdGenerator: Send + Sync {
    /// Returns a new UUID of version 7, greater than all earlier ones of this source.
    fn next_uuid(&self) -> Uuid;
}
