//! Rules of dashboard logins: one-time codes and passwords.

pub mod code;
pub mod password;

pub use code::{Code, accepted_step};
pub use password::PasswordError;
