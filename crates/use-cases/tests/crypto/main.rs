//! Use cases of crypto operations over a store in memory, a processor and a source of rates.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bed;
mod currencies;
mod quotes;
mod rates;
