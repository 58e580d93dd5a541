//! Crypto withdrawals over a store in memory and a simulated processor that executes every repeated creation.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

mod bed;
mod callbacks;
mod crashes;
mod creating;
mod exposure;
mod polling;
mod quotes;
mod reconciling;
mod repeats;
mod reviewing;
mod verifying;
