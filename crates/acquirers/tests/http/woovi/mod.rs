//! Woovi against a scripted server.

mod answers;
mod bad_luck;
mod callbacks;
mod charges;
mod config;
mod disputes;
mod lists;
mod payouts;
mod refunds;
