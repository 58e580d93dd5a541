//! What upstream calls back with: kept first, believed only after the truth was read.

mod names;
mod open;
pub mod process;
mod receive;
mod received;
pub mod retry;

pub use open::{OpenCallbacks, count};
pub use receive::{ReceiveError, receive};
