//! Finds, lists and ends sessions.

use cais_domain::ids::SessionId;
use cais_ports::{ChangeSet, CommitError, Session, SessionStage, Write};
use jiff::{SignedDuration, Timestamp};

use super::log_in::SESSION_PURPOSE;
use super::token::SecretToken;
use super::{LoginError, Logins, MAX_ATTEMPTS, Visitor};

/// A complete session ends if it is not used for this time.
const MAX_IDLE: SignedDuration = SignedDuration::from_mins(60);
/// The time of the last use is stored at most this often, so that not every page view writes.
const SEEN_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// Returns the visitor with this cookie. Returns `None` if the cookie belongs to no open session. A request that the
/// page sends without a person (`is_poll`) does not count as a use of the session.
///
/// # Errors
/// [`LoginError::Query`].
pub async fn find(logins: &Logins, cookie: &str, is_poll: bool) -> Result<Option<Visitor>, LoginError> {
    let ports = &logins.ports;
    let Some(token) = SecretToken::<cais_domain::ids::kind::Session>::parse(cookie) else { return Ok(None) };
    let Some(session) = ports.queries.find_session(token.id).await? else { return Ok(None) };
    let now = ports.clock.now();
    if !token.has(ports, SESSION_PURPOSE, &session.keyed_hash) {
        tracing::warn!(session = %session.id, "cookie refused; its secret is not that of the session");
        return Ok(None);
    }
    if !is_open(&session, now) {
        return Ok(None);
    }
    let Some(user) = ports.queries.find_user(session.user).await? else { return Ok(None) };
    if !is_poll && now.duration_since(session.seen_at) >= SEEN_EVERY {
        let mut change = ChangeSet::new(now);
        change.writes.push(Write::update(Session { seen_at: now, ..session.clone() }));
        // An error is ignored: another request in the same minute has probably written the time.
        let _written = ports.store.commit(change).await;
    }
    Ok(Some(Visitor { session, user }))
}

/// Returns whether the session is open at `now`.
fn is_open(session: &Session, now: Timestamp) -> bool {
    let is_idle = session.stage == SessionStage::Complete && now.duration_since(session.seen_at) >= MAX_IDLE;
    session.ended_at.is_none() && now < session.expires_at && !is_idle
}

/// Reads an open session and its user again.
pub(super) async fn reread(logins: &Logins, session: &Session) -> Result<Visitor, LoginError> {
    let queries = &logins.ports.queries;
    let session = queries.find_session(session.id).await?.ok_or(LoginError::Over)?;
    if !is_open(&session, logins.ports.clock.now()) {
        return Err(LoginError::Over);
    }
    let user = queries.find_user(session.user).await?.ok_or(LoginError::Over)?;
    Ok(Visitor { session, user })
}

/// Lists the open sessions of the visitor's user. The newest come first.
///
/// # Errors
/// [`LoginError::Query`].
pub async fn list(logins: &Logins, visitor: &Visitor) -> Result<Vec<Session>, LoginError> {
    let now = logins.ports.clock.now();
    let sessions = logins.ports.queries.list_sessions(visitor.user.id, now).await?;
    Ok(sessions.into_iter().filter(|session| is_open(session, now)).collect())
}

/// Ends a session of the visitor's user. A repeat has no effect.
///
/// # Errors
/// [`LoginError::Over`] if the user has no such session, and other variants of [`LoginError`].
pub async fn end(logins: &Logins, visitor: &Visitor, id: SessionId) -> Result<(), LoginError> {
    let ports = &logins.ports;
    for _ in 0..MAX_ATTEMPTS {
        let found = ports.queries.find_session(id).await?.filter(|session| session.user == visitor.user.id);
        let session = found.ok_or(LoginError::Over)?;
        if session.ended_at.is_some() {
            return Ok(());
        }
        let now = ports.clock.now();
        let mut change = ChangeSet::new(now);
        change.writes.push(Write::update(Session { ended_at: Some(now), ..session }));
        match ports.store.commit(change).await {
            Ok(_) => return Ok(()),
            Err(CommitError::Stale) => {}
            Err(error) => return Err(LoginError::Store(error)),
        }
    }
    Err(LoginError::Contended)
}

/// Adds the end of each given session to a change set.
pub(super) fn end_all(change: &mut ChangeSet, sessions: Vec<Session>) {
    let now = change.at;
    change.writes.extend(sessions.into_iter().map(|session| Write::update(Session { ended_at: Some(now), ..session })));
}
