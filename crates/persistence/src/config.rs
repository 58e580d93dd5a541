//! How a store is opened: its address and its limits.

use std::time::Duration;

use crate::url::DatabaseUrl;

/// A batch is at most so many change sets: beyond it, waiting costs more than a trip to the server saves.
const MAX_BATCH: usize = 256;
/// So many change sets may wait for one lane: at 5,000 per second, less than a second's work.
const QUEUE: usize = 4_096;
/// A caller waits at most so long: a request is answered within 10 s, and may have to wait for the store more than once.
const DEADLINE: Duration = Duration::from_secs(3);
/// Readers of a file share its cache; few are enough.
const SQLITE_READERS: u32 = 4;
/// Readers of a server; more only make its connections fight for its cores.
const POSTGRES_READERS: u32 = 8;

/// A file has one writer.
const SQLITE_LANES: usize = 1;
/// While one lane waits for the server's disk the other has its work done; more of them only make batches smaller.
const POSTGRES_LANES: usize = 2;

/// Where the store is, and its limits.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// Where it is.
    pub url: DatabaseUrl,
    /// How many connections read, besides the one for reads by id.
    pub read_connections: u32,
    /// How many lanes write side by side, each on a connection of its own; SQLite always has one.
    pub lanes: usize,
    /// How many change sets one transaction takes at most.
    pub max_batch: usize,
    /// How many change sets, how many reads by id and how many other reads may wait; beyond it the store is unavailable at once.
    pub queue: usize,
    /// How long a caller waits, and a statement may take.
    pub deadline: Duration,
}

impl StoreConfig {
    /// The defaults for that address.
    #[must_use]
    pub const fn new(url: DatabaseUrl) -> Self {
        let (read_connections, lanes) =
            if url.is_sqlite() { (SQLITE_READERS, SQLITE_LANES) } else { (POSTGRES_READERS, POSTGRES_LANES) };
        Self { url, read_connections, lanes, max_batch: MAX_BATCH, queue: QUEUE, deadline: DEADLINE }
    }
}
