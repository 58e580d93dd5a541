//! The configuration of a store: its address and its limits.

use std::time::Duration;

use crate::url::DatabaseUrl;

/// The default of `max_batch`. In a larger batch, callers wait longer than the saved round trips are worth.
const MAX_BATCH: usize = 256;
/// The default of `queue`. A full queue is less than a second's work at 5,000 change sets per second.
const QUEUE: usize = 4_096;
/// The default of `deadline`. The API answers a request within 10 s, and a request may have to wait for the store more than once.
const DEADLINE: Duration = Duration::from_secs(3);
/// The default of `read_connections` with SQLite.
const SQLITE_READERS: u32 = 4;
/// The default of `read_connections` with PostgreSQL. More connections would compete for the server's cores.
const POSTGRES_READERS: u32 = 8;

/// The default of `lanes` with SQLite, which allows one writer.
const SQLITE_LANES: usize = 1;
/// The default of `lanes` with PostgreSQL. While one lane waits for the server's disk, the other lane executes statements. More lanes only
/// make batches smaller.
const POSTGRES_LANES: usize = 2;

/// The address of the store, and its limits.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// The address.
    pub url: DatabaseUrl,
    /// The number of connections that read, besides the one for reads by id.
    pub read_connections: u32,
    /// The number of lanes that write in parallel, each on its own connection. SQLite always has one.
    pub lanes: usize,
    /// The largest number of change sets in one transaction.
    pub max_batch: usize,
    /// The largest number of change sets that wait for one lane. The same limit applies to waiting reads by id, and to other reads that
    /// wait or run. Further calls fail at once as unavailable.
    pub queue: usize,
    /// The longest wait of a caller, and the longest run of a statement.
    pub deadline: Duration,
}

impl StoreConfig {
    /// Returns the defaults for that address.
    #[must_use]
    pub const fn new(url: DatabaseUrl) -> Self {
        let (read_connections, lanes) =
            if url.is_sqlite() { (SQLITE_READERS, SQLITE_LANES) } else { (POSTGRES_READERS, POSTGRES_LANES) };
        Self { url, read_connections, lanes, max_batch: MAX_BATCH, queue: QUEUE, deadline: DEADLINE }
    }
}
