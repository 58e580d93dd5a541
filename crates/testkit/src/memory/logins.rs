//! Users, sessions and confirmations, read from the store in memory.

use async_trait::async_trait;
use cais_domain::ids::UserId;
use cais_ports::{LoginQueries, QueryError, Session, User};
use jiff::Timestamp;

use super::MemoryStore;
use super::queries::newest_first;

/// The largest number of listed sessions of a user.
const MAX_SESSIONS: usize = 50;

#[async_trait]
impl LoginQueries for MemoryStore {
    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>, QueryError> {
        Ok(self.read()?.tables.users.values().find(|user| user.email == email).cloned())
    }

    async fn list_sessions(&self, user: UserId, now: Timestamp) -> Result<Vec<Session>, QueryError> {
        let state = self.read()?;
        let is_open = |session: &&Session| session.ended_at.is_none() && session.expires_at > now;
        let own = state.tables.sessions.values().filter(|session| session.user == user).filter(is_open);
        Ok(newest_first(own.cloned(), |session| session.id).take(MAX_SESSIONS).collect())
    }
}
