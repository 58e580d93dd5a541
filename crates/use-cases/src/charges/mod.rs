//! Use cases of charges.

pub mod cancel;
pub mod create;
pub mod expire;
pub mod fetch;
pub mod list;
mod order;
mod resource;
mod split;
pub mod sync;

pub use fetch::ChargeName;
