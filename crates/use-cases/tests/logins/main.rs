//! Logins to the dashboard over a store in memory.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bed;
mod confirming;
mod deciding;
mod linking;
mod logging_in;
mod orders;
mod signing_up;
