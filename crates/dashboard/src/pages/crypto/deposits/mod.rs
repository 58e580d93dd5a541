//! The pages of crypto deposits.

pub(crate) mod new;
pub(crate) mod quote;
pub(crate) mod show;
