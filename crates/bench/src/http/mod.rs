//! A cheap load generator: requests are rendered in advance, and answers are hardly parsed.

mod connection;
mod download;
mod load;
mod request;

pub use connection::{Answer, Connection, END_OF_HEAD};
pub use download::download;
pub use load::{Load, Outcome, Script};
pub use request::{Template, get, get_csv, post};
