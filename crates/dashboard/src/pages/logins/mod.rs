//! The pages of logins: sign-up, password, one-time code, authenticator and sessions.

pub(crate) mod code;
pub(crate) mod enrol;
pub(crate) mod log_in;
pub(crate) mod log_out;
pub(crate) mod password;
pub(crate) mod recovery_codes;
pub(crate) mod sessions;
pub(crate) mod sign_up;
pub(crate) mod welcome;
