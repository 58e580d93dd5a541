//! Actions that need a new one-time code. The first step stores the action, and the second step executes it.

pub mod begin;
pub mod confirm;
mod decide;

pub use decide::DecisionError;
