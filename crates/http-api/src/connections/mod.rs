//! Connections of the two listeners. Every wait of a connection has a deadline. The number of connections per address is limited.
//!
//! The HTTP library ends idle connections. The library's deadline for heads applies only to the first head of a connection. So `service`
//! enforces the deadlines of every head, of unread bodies and of writes. `super::body` sets the deadline of bodies that are read.

mod connection;
mod failure;
mod file_limit;
mod per_address;
mod service;
mod stream;

use std::time::Duration;

pub use self::connection::{Connection, RequestGuard};
pub use self::file_limit::raise_file_limit;
pub use self::per_address::{PerAddress, network};
pub use self::service::{CONNECTIONS_CUT, ListenerState, factory};
#[cfg(test)]
pub use self::stream::GuardedStream;

/// Limits of connections: the time for each part of a request, and the number of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Time from the first byte of a request head to its last. For the first head, the time starts with the connection.
    pub head_within: Duration,
    /// Time from the end of a request head to the end of its body.
    pub body_within: Duration,
    /// Time without progress after which a blocked write ends the connection.
    pub write_within: Duration,
    /// Time after the response in which the client may still send an unread body.
    pub linger_within: Duration,
    /// Time after which a connection without a request is closed. The default exceeds the usual 60 s of load balancers, so that load
    /// balancers close idle connections first.
    pub idle_within: Duration,
    /// Limit of concurrent connections.
    pub connections: usize,
    /// Limit of concurrent connections per address.
    pub per_address: u32,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            head_within: Duration::from_secs(10),
            body_within: Duration::from_secs(30),
            write_within: Duration::from_secs(30),
            linger_within: Duration::from_secs(5),
            idle_within: Duration::from_secs(75),
            connections: MAX_CONNECTIONS,
            per_address: DEFAULT_PER_ADDRESS,
        }
    }
}

/// Limit of connections of the public listener. An idle connection needs about 20 KiB, and all of them together 200 MiB.
pub const MAX_CONNECTIONS: usize = 10_000;
/// Default limit per address. The value suffices for the connection pools of several services. At this limit, 40 addresses could use all
/// connections.
pub const DEFAULT_PER_ADDRESS: u32 = 256;

impl ConnectionLimits {
    /// Returns these limits for the admin listener. Probes and the scraper of the metrics need few connections. All of them may come from
    /// one address.
    #[must_use]
    pub fn admin(self) -> Self {
        const CONNECTIONS: usize = 64;
        Self { connections: CONNECTIONS, per_address: u32::MAX, ..self }
    }
}
