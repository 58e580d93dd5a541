//! Tests of disputes of received Pix: limits, returns, top-ups of blocks, and alerts.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod alerts;
mod blocks;
mod book;
mod disputes;
mod shares;
