//! Use cases of charges over a store in memory and simulated acquirers: every step, every outage, every crash between
//! two steps.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod callbacks;
mod cancel;
mod crashes;
mod create;
mod expire;
mod external_ids;
mod leases;
mod outages;
mod payments;
mod permits;
mod postbacks;
mod reads;
mod repeats;
mod world;
