//! Woovi against a scripted server, and against the sandbox.

mod answers;
mod bad_luck;
mod callbacks;
mod charges;
mod config;
mod disputes;
mod lists;
mod payouts;
mod refunds;
mod sandbox;
