//! What the use cases promise of webhook endpoints and of deliveries, over a store in memory and receivers that do what a test tells them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

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
mod store_trouble;
mod world;
