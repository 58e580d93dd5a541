//! What upstream calls back with: kept first, believed only after the truth was read.

mod names;
pub mod process;
mod receive;
mod received;
pub mod retry;

pub use receive::{ReceiveError, receive};
