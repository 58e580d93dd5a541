//! The pages of API keys.

pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod revoke;
