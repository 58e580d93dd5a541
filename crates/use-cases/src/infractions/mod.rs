//! Infractions: disputes of received Pix that acquirers report. Each is blocked, defended and resolved once.

pub mod alerts;
mod case;
pub mod defend;
mod defense;
pub(crate) mod freed;
pub mod list;
mod look;
mod once;
mod opening;
pub mod poll;
pub mod resolve;
pub mod resume;
pub(crate) mod returns;
mod review;
mod rounds;
mod steps;
pub(crate) mod sync;
mod verdict;
mod wide;
