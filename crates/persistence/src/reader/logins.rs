//! Reads users and sessions of the dashboard.

use async_trait::async_trait;
use cais_domain::ids::UserId;
use cais_ports::{LoginQueries, QueryError, Session, User};
use diesel::prelude::*;
use jiff::Timestamp;

use crate::Persistence;
use crate::rows::Record as _;
use crate::rows::login::session::{SessionRow, sessions};
use crate::rows::login::user::users;
use crate::sql::select::Select;

/// The largest number of sessions in a list.
const MAX_SESSIONS: i64 = 50;

fn sessions_of(user: UserId, now: Timestamp) -> impl Select<SessionRow<'static>> {
    sessions::table
        .filter(sessions::user_id.eq(user.to_string()))
        .filter(sessions::ended_at.is_null())
        .filter(sessions::expires_at.gt(now.as_microsecond()))
        .order(sessions::id.desc())
        .limit(MAX_SESSIONS)
}

#[async_trait]
impl LoginQueries for Persistence {
    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>, QueryError> {
        self.find(users::table.filter(users::email.eq(email.to_owned())), User::read).await
    }

    async fn list_sessions(&self, user: UserId, now: Timestamp) -> Result<Vec<Session>, QueryError> {
        self.list(sessions_of(user, now), Session::read).await
    }
}

#[cfg(test)]
pub(super) fn lists() -> Vec<super::walks::List> {
    use cais_testkit::builders::{fresh, start};

    vec![super::walks::list(&sessions_of(fresh(), start()), "'usr_a', 0, 50")]
}
