//! A load generator that costs little: requests are rendered before they are needed, and answers are hardly parsed.

mod connection;
mod load;
mod request;

pub use connection::{Answer, Connection};
pub use load::{Load, Outcome, Script};
pub use request::{Template, get, post};
