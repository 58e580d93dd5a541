//! Use cases of operators over a store in memory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
mod audit;
mod bed;
mod drains;
mod keys;
mod usage;
