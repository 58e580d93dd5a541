//! Infractions: disputes of received Pix that acquirers report. The money of each infraction is blocked. Each
//! infraction can be defended once, and is resolved once.

pub mod alerts;
mod changes;
mod dedup_log;
pub mod defend;
mod defense;
mod dispute_context;
mod fetch;
pub mod list;
pub(crate) mod med_returns;
mod opened;
mod order;
pub mod poll;
pub mod poll_defenses;
mod poll_window;
mod reconcile_status;
pub(crate) mod redistribute;
mod reopenings;
pub mod resolve;
mod review;
pub(crate) mod sync;
