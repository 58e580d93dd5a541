//! Rules of logins to the dashboard: one-time codes, passwords, and the limits of sessions and confirmations.

pub mod code;
pub mod password;

pub use code::{Code, accepted_step};
pub use password::PasswordError;
