//! The pages of infractions.

pub(crate) mod defend;
pub(crate) mod list;
pub(crate) mod show;
