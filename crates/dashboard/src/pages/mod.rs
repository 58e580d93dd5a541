//! The pages: one file per page, with its handlers and the struct of its template.

pub(crate) mod code;
pub(crate) mod confirm;
pub(crate) mod enrol;
pub(crate) mod events;
pub(crate) mod home;
pub(crate) mod keys;
pub(crate) mod language;
pub(crate) mod log_in;
pub(crate) mod log_out;
pub(crate) mod new_key;
pub(crate) mod password;
pub(crate) mod revoke_key;
pub(crate) mod sessions;
pub(crate) mod sign_up;
pub(crate) mod webhooks;
pub(crate) mod welcome;
