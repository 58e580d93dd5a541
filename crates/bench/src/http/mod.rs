//! A load generator that needs little processor time. Requests are rendered in advance. Of an answer, only the status
//! and the length are parsed.

mod connection;
mod download;
mod load;
mod request;

pub use connection::{Answer, Connection, END_OF_HEAD};
pub use download::download;
pub use load::{Load, Outcome, Script};
pub use request::{Template, get, get_csv, post};
