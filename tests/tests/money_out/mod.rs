//! Money of an account: payouts, refunds, splits, releases, and the lists that explain every centavo.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bodies;
mod crash;
mod csv;
mod payouts;
mod proof;
mod reconciliation;
mod refunds;
mod releases;
mod splits;
mod statement;
mod storms;
mod timeline;
mod upstream;
