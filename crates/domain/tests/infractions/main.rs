//! Disputes of received Pix: what they may hold and return, how blocks are filled, and what is told in time.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod alerts;
mod blocks;
mod book;
mod disputes;
mod shares;
