//! The rules of Cais as pure values and functions.
#![doc = include_str!("../README.md")]
#![deny(clippy::arithmetic_side_effects, clippy::float_arithmetic)]

// `named` comes first, because the other modules use its macro.
#[macro_use]
mod named;

pub mod acquirer_name;
pub mod allocate;
pub mod block;
pub mod br_code;
pub mod charge;
pub mod crypto;
mod decimal;
pub mod document;
pub mod end_to_end_id;
pub mod event;
pub mod external_id;
pub mod fee;
pub mod hex;
pub mod ids;
pub mod infraction;
pub mod instruction_id;
pub mod ledger;
pub mod login;
pub mod merchant;
pub mod money;
pub mod pause;
pub mod payment;
pub mod payout;
pub mod pix_key;
pub mod rate;
pub mod refund;
pub mod release;
pub mod review_decision;
pub mod split;
pub mod text;
pub mod timeline;
pub mod txid;
