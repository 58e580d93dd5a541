//! Use cases of refunds.

pub mod create;
mod decide;
pub mod fetch;
pub mod list;
mod order;
pub mod poll;
mod resource;
pub(crate) mod sync;

pub use fetch::RefundName;
