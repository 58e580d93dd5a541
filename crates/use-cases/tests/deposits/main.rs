//! Crypto deposits over a store in memory and a simulated processor.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bed;
mod callbacks;
mod creating;
mod paying;
mod reconciling;
mod reviewing;
