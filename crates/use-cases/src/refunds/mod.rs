//! What can be done with refunds of paid charges.

mod answer_again;
mod complete;
pub mod create;
mod decide;
pub mod fetch;
pub mod list;
pub mod poll;
pub(crate) mod resume;
pub(crate) mod sync;
mod upstream;

pub use fetch::RefundName;

/// How often a decision on a refund is taken again when its charge changed between its reading and its writing.
///
/// Every refund of a charge changes the charge when it begins and when it ends, and each round means that one of those changes
/// became true: so many rounds let a storm of a hundred refunds on one charge pass without turning one away.
const ROUNDS: usize = 256;
