//! Disputes of received Pix: limits, returns, block top-ups and alerts.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod alerts;
mod blocks;
mod book;
mod disputes;
mod shares;
