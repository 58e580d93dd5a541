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
mod metrics;
mod router;
mod server;
mod tls;
mod token;
