//! Use cases of API keys.

pub mod authenticate;
pub mod create;
pub mod list;
pub mod revoke;

pub use authenticate::{AuthenticateError, Caller, KeyRefusal, KeyRing};
