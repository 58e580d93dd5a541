//! Callbacks of acquirers. A callback is stored first. Its effects are applied only after the acquirer's record was
//! read.

mod names;
mod open;
pub mod process;
mod receive;
mod received_pix;
pub mod retry;

pub use open::{OpenCallbacks, count};
pub use receive::{ReceiveError, receive, receive_crypto, verify};
