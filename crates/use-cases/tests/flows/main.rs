//! Use cases of charges, with a store in memory and simulated acquirers: every step, every outage, and a crash between
//! every two steps.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bed;
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
