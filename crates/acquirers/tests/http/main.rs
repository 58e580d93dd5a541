//! The adapters against servers that answer what a test tells them to, byte by byte.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod breaker;
mod callbacks;
mod cancel;
mod config;
mod create;
mod failures;
mod find;
mod lists;
mod losses;
mod metrics;
mod payouts;
mod refunds;
mod router;
mod sent;
mod server;
mod tls;
mod token;
