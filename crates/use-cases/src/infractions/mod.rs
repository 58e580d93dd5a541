//! Infractions: disputes of received Pix, as acquirers tell of them; blocked, defended and settled, each once.

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
pub mod resume;
pub(crate) mod returns;
mod rounds;
mod steps;
pub(crate) mod sync;
mod unseen;
mod verdict;
mod weigh;
mod weighed;
mod wide;
