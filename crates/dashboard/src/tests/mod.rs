//! Pages over a store in memory, as a browser sees them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod access;
mod browser;
mod charges;
mod forgery;
mod headers;
mod keys;
mod logins;
mod pay;
mod transactions;
mod webhooks;
