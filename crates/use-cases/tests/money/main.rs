//! Use cases of refunds, splits, releases, reads, the reconciliation with acquirers' lists, and orders of unconfigured acquirers.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bed;
mod keys;
mod polling;
mod reading;
mod reconcile_automatic;
mod reconcile_received;
mod reconcile_returns;
mod reconcile_sent;
mod refund_crashes;
mod refund_outcomes;
mod refund_payments;
mod refund_proof;
mod refund_races;
mod refund_return_ids;
mod refund_rules;
mod releases;
mod returns;
mod splits;
mod unconfigured;
