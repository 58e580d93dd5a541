//! The clock and the source of identifiers. The domain and the rules of a commit use neither a clock nor random
//! numbers.

use jiff::Timestamp;
use uuid::Uuid;

/// The clock of the service.
pub trait Clock: Send + Sync {
    /// Returns the current instant in whole microseconds, the precision of the stores.
    fn now(&self) -> Timestamp;
}

/// The source of new identifiers.
pub trait IdGenerator: Send + Sync {
    /// Returns a new UUID of version 7, greater than all earlier UUIDs of this source.
    fn next_uuid(&self) -> Uuid;
}
