//! The stored records of dashboard logins: users, sessions, and actions that wait for a one-time code.

mod confirmation;
mod crypto;
mod queries;
mod session;
mod user;

pub use confirmation::{Confirmation, ConfirmationState, PendingAction};
pub use crypto::{OneTimeCodes, PasswordHash, PasswordHashError, Passwords};
pub use queries::LoginQueries;
pub use session::{Session, SessionStage};
pub use user::{Invitation, Role, Totp, User};
