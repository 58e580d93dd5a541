//! What can be done with charges.

mod answer_again;
pub mod cancel;
mod complete;
pub mod create;
pub mod expire;
pub mod fetch;
pub mod list;
pub(crate) mod resume;
mod split;
pub mod sync;

pub use fetch::ChargeName;
