//! The simulator over a real socket: every endpoint, its refusals, its callbacks, its faults and its file.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "an absent JSON field reads as null and fails the comparison")]

#[path = "../api_pix/mod.rs"]
mod api_pix;
mod balance;
mod bed;
mod callbacks;
mod cob_list;
mod cob_refusals;
mod cobs;
mod control;
mod crypto;
mod faults;
mod infraction_callbacks;
mod infractions;
mod oauth;
mod pix;
mod receiver;
mod refunds;
mod restart;
mod send_refusals;
mod send_restart;
mod sends;
mod sent_list;
mod sent_returns;
mod webhooks;
mod woovi;
