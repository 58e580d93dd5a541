//! Use cases of payouts, with a store in memory and simulated acquirers. A payout is sent at most once, after any
//! crash, loss or false report.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod approval;
mod bed;
mod callbacks;
mod cover;
mod crashes;
mod external_ids;
mod keys;
mod lone_returns;
mod outcomes;
mod polling;
mod proof;
mod races;
mod reads;
mod returns;
