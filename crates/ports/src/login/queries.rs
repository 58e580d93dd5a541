//! Reads of logins.

use async_trait::async_trait;
use cais_domain::ids::{ConfirmationId, SessionId, UserId};
use jiff::Timestamp;

use super::{Confirmation, Session, User};
use crate::queries::QueryError;

/// Users, sessions and confirmations.
#[async_trait]
pub trait LoginQueries: Send + Sync {
    /// Returns the user.
    async fn find_user(&self, id: UserId) -> Result<Option<User>, QueryError>;
    /// Returns the user with this e-mail, lower case.
    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>, QueryError>;
    /// Returns the session, also an ended one.
    async fn find_session(&self, id: SessionId) -> Result<Option<Session>, QueryError>;
    /// Lists the newest sessions of the user that were not ended and expire after `now`, at most 50, newest first.
    async fn list_sessions(&self, user: UserId, now: Timestamp) -> Result<Vec<Session>, QueryError>;
    /// Returns the confirmation, in any state.
    async fn find_confirmation(&self, id: ConfirmationId) -> Result<Option<Confirmation>, QueryError>;
}
