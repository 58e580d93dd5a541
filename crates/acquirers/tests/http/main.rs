//! The adapters against a scripted server, byte by byte, and against the sandbox.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod answering;
mod answers;
#[path = "../../../sandbox/tests/api_pix/mod.rs"]
mod api_pix;
mod bad_luck;
mod balance;
mod breaker;
mod callbacks;
mod cancel;
mod config;
mod contract;
mod create;
mod defenses;
mod efi_trial;
mod failures;
mod find;
mod infractions;
mod lists;
mod losses;
mod metrics;
mod nowpayments;
mod payouts;
mod profiles;
mod ptax;
mod refunds;
mod router;
mod sandbox;
mod sent;
mod server;
mod tls;
mod token;
mod woovi;
