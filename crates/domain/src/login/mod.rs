//! Rules of logins to the dashboard: one-time codes and passwords.

pub mod code;
pub mod password;

pub use code::{Code, accepted_step};
pub use password::PasswordError;
