//! Use cases of charges.

pub mod cancel;
pub mod create;
pub mod expire;
pub mod fetch;
mod keyed;
pub mod list;
mod order;
pub mod payment_page;
mod split;
pub mod sync;

pub use fetch::ChargeName;
