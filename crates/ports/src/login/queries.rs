//! Reads of logins.

use async_trait::async_trait;
use cais_domain::ids::{ConfirmationId, SessionId, UserId};
use jiff::Timestamp;

use super::{Confirmation, Session, User};
use crate::queries::QueryError;
use crate::record::{RecordKey, RecordQueries};

/// Users, sessions and confirmations.
#[async_trait]
pub trait LoginQueries: RecordQueries {
    /// Returns the user.
    async fn find_user(&self, id: UserId) -> Result<Option<User>, QueryError> {
        self.find_record(RecordKey::User { id }).await?.map(TryInto::try_into).transpose()
    }
    /// Returns the user with this e-mail. The e-mail must be in lower case.
    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>, QueryError>;
    /// Returns the session, even if it has ended.
    async fn find_session(&self, id: SessionId) -> Result<Option<Session>, QueryError> {
        self.find_record(RecordKey::Session { id }).await?.map(TryInto::try_into).transpose()
    }
    /// Lists the user's newest sessions that were not ended and expire after `now`, at most 50. The newest come first.
    async fn list_sessions(&self, user: UserId, now: Timestamp) -> Result<Vec<Session>, QueryError>;
    /// Returns the confirmation, in any state.
    async fn find_confirmation(&self, id: ConfirmationId) -> Result<Option<Confirmation>, QueryError> {
        self.find_record(RecordKey::Confirmation { id }).await?.map(TryInto::try_into).transpose()
    }
}
