//! Use cases of crypto operations over a store in memory, a processor and a source of rates.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod currencies;
mod quotes;
mod world;
