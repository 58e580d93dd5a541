//! The timeline of the account.

mod filter;
mod list;

pub(crate) use list::{download, show};
