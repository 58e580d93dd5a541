//! What upstream calls back with: kept first, believed only after the truth was read.

pub mod process;
mod receive;
mod received;

pub use receive::receive;
