//! Uses a one-time link: sets the password, removes the authenticator and ends all sessions.

use cais_domain::login::password::{self, PasswordError};
use cais_ports::{ChangeSet, CommitError, Secret, Totp, User, Write};

use super::invite::{LINK_PURPOSE, LinkToken};
use super::{Browser, LoginError, Logins, person, sessions};
use crate::audit::{self, AuditedChange};

/// The reason why a password was not set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetPasswordError {
    /// The password violates a rule.
    #[error(transparent)]
    WeakPassword(#[from] PasswordError),
    /// The user could not be changed.
    #[error(transparent)]
    Login(#[from] LoginError),
}

/// Returns the user of a link that can still be used.
///
/// # Errors
/// [`LoginError::Over`] if the link does not exist, was used or has expired.
pub async fn find(logins: &Logins, token: &str) -> Result<User, LoginError> {
    let ports = &logins.ports;
    let token = LinkToken::parse(token).ok_or(LoginError::Over)?;
    let user = ports.queries.find_user(token.id).await?.ok_or(LoginError::Over)?;
    let open = user.invitation.filter(|open| ports.clock.now() < open.expires_at).ok_or(LoginError::Over)?;
    if token.has(ports, LINK_PURPOSE, &open.hash) { Ok(user) } else { Err(LoginError::Over) }
}

/// Sets the password of the link's user. A link can be used once.
///
/// # Errors
/// [`SetPasswordError`].
pub async fn use_link(
    logins: &Logins,
    browser: &Browser,
    token: &str,
    password: &Secret,
) -> Result<(), SetPasswordError> {
    let ports = &logins.ports;
    let user = find(logins, token).await?;
    password::check(password.expose(), &user.email)?;
    let hash = logins.passwords.hash(password).await.map_err(LoginError::Password)?;
    let mut change = ChangeSet::new(ports.clock.now());
    let open = ports.queries.list_sessions(user.id, change.at).await.map_err(LoginError::Query)?;
    sessions::end_all(&mut change, open);
    let audited = AuditedChange {
        action: "user.set_password",
        subject: user.id.to_string(),
        account: user.role.account(),
        before: None,
        after: None,
    };
    change.writes.push(audit::record(ports, &person(&user.email, browser), change.at, audited));
    change.writes.push(Write::update(User { password: Some(hash), totp: Totp::Missing, invitation: None, ..user }));
    match ports.store.commit(change).await {
        Ok(_) => Ok(()),
        Err(CommitError::Stale) => Err(LoginError::Contended.into()),
        Err(error) => Err(LoginError::Store(error).into()),
    }
}
