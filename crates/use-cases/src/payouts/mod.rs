//! What can be done with payouts.

mod answer_again;
mod complete;
pub mod create;
pub mod fetch;
pub mod list;
pub mod poll;
pub(crate) mod resume;
mod steps;
pub(crate) mod sync;
mod upstream;

pub use fetch::PayoutName;
