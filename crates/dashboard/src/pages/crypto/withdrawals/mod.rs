//! The pages of crypto withdrawals.

pub(crate) mod confirm;
pub(crate) mod new;
pub(crate) mod show;
