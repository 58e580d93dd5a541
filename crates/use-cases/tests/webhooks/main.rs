//! Use cases of webhook endpoints and deliveries, with a store in memory and receivers that the test controls.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bed;
mod changes;
mod delivering;
mod disabling;
mod endpoints;
mod everything;
mod hanging;
mod keeping;
mod leases;
mod queue;
mod reading;
mod receivers;
mod resending;
mod stopping;
mod store_failures;
