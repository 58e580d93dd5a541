//! Use cases of payouts.

pub mod create;
pub mod credit_return;
pub mod fetch;
pub mod list;
mod order;
pub mod poll;
pub mod preview;
mod resource;
mod steps;
pub(crate) mod sync;

pub use fetch::PayoutName;
