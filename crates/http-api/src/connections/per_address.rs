//! The number of connections of each address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// The numbers of connections by address, for all threads of one listener. Memory holds one entry per connected address.
#[derive(Debug, Clone)]
pub struct PerAddress {
    limit: u32,
    counts: Arc<Mutex<HashMap<IpAddr, u32>>>,
}

impl PerAddress {
    /// Returns a counter with at most `limit` connections per address.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self { limit, counts: Arc::default() }
    }

    /// Counts a connection until the result is dropped; `None` if the address has reached its limit.
    #[must_use]
    pub fn enter(&self, address: IpAddr) -> Option<CountedConnection> {
        let address = network(address);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_insert(0);
        if *count >= self.limit {
            return None;
        }
        *count = count.saturating_add(1);
        Some(CountedConnection { address, counts: Arc::clone(&self.counts) })
    }
}

/// Returns the network that shares one limit: an IPv4 address alone, or a whole IPv6 /64, because providers assign a /64 to one customer.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// A connection that is counted under its address.
#[derive(Debug)]
pub struct CountedConnection {
    address: IpAddr,
    counts: Arc<Mutex<HashMap<IpAddr, u32>>>,
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn address_at_its_limit_is_rejected_until_one_ends() {
        let connections = PerAddress::new(2);
        let first = connections.enter(at("192.0.2.1")).unwrap();
        let _second = connections.enter(at("::ffff:192.0.2.1")).unwrap();
        assert!(connections.enter(at("192.0.2.1")).is_none());
        let _other = connections.enter(at("192.0.2.2")).unwrap();
        drop(first);
        assert!(connections.enter(at("192.0.2.1")).is_some());
    }

    #[test]
    fn ipv6_network_has_one_share() {
        let connections = PerAddress::new(1);
        let _place = connections.enter(at("2001:db8::1")).unwrap();
        assert!(connections.enter(at("2001:db8::ffff:1")).is_none());
        assert!(connections.enter(at("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn address_without_connections_uses_no_memory() {
        let connections = PerAddress::new(1);
        drop(connections.enter(at("192.0.2.1")));
        assert!(connections.counts.lock().unwrap().is_empty());
    }
}
