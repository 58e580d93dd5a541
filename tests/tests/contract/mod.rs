//! The tables and rules of the contract, at each limit and one past it.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod access;
mod bodies;
mod documents;
mod envelopes;
mod headers;
mod idempotency_keys;
mod lists;
mod order;
mod paths;
mod rate_limit;
mod resources;
