//! The timeline of the account: its charges, payouts and received splits.

mod filter;
mod list;

pub(crate) use list::{download, show};
