//! Infractions: disputes of received Pix that acquirers report. Each is blocked, defended and resolved once.

pub mod alerts;
mod dedup_log;
pub mod defend;
mod defense;
mod dispute_context;
mod fetch;
pub mod list;
pub(crate) mod med_returns;
mod opened;
pub mod poll;
mod poll_window;
mod reconcile_status;
pub(crate) mod redistribute;
mod reopenings;
pub mod resolve;
pub mod resume;
mod review;
mod steps;
pub(crate) mod sync;
