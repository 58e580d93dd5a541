//! Changes a user's password. The user must enter the current password.

use cais_domain::login::password;
use cais_ports::{ChangeSet, CommitError, Secret, User, Write};

use super::use_link::SetPasswordError;
use super::{Browser, LoginError, Logins, Visitor, sessions};
use crate::audit::{self, AuditedChange};

/// Replaces the password, and ends all other sessions of the user.
///
/// # Errors
/// [`SetPasswordError`]. If the current password is wrong, the error is [`LoginError::Refused`].
pub async fn change(
    logins: &Logins,
    browser: &Browser,
    visitor: &Visitor,
    present: &Secret,
    new: &Secret,
) -> Result<(), SetPasswordError> {
    let ports = &logins.ports;
    let now = ports.clock.now();
    // The attempts are counted for the user's id, not the e-mail: strangers can use up the attempts of an e-mail at the
    // login.
    let name = visitor.user.id.to_string();
    if !logins.throttle.take(&name, browser.address, now) {
        return Err(LoginError::Throttled.into());
    }
    let Visitor { session, user } = sessions::reread(logins, &visitor.session).await?;
    let verified = logins.passwords.verify(present, user.password.as_ref()).await.map_err(LoginError::Password)?;
    if !verified {
        tracing::info!(user = %user.id, client = %browser.address_text(), "password not changed; the current password is wrong");
        return Err(LoginError::Refused.into());
    }
    password::check(new.expose(), &user.email)?;
    let hash = logins.passwords.hash(new).await.map_err(LoginError::Password)?;
    let mut change = ChangeSet::new(now);
    let open = ports.queries.list_sessions(user.id, now).await.map_err(LoginError::Query)?;
    sessions::end_all(&mut change, open.into_iter().filter(|other| other.id != session.id).collect());
    let audited = AuditedChange {
        action: "user.change_password",
        subject: user.id.to_string(),
        account: user.role.account(),
        before: None,
        after: None,
    };
    change.writes.push(audit::record(ports, &visitor.actor(browser), now, audited));
    change.writes.push(Write::update(User { password: Some(hash), ..user }));
    match ports.store.commit(change).await {
        Ok(_) => {
            logins.throttle.restore(&name);
            Ok(())
        }
        Err(CommitError::Stale) => Err(LoginError::Contended.into()),
        Err(error) => Err(LoginError::Store(error).into()),
    }
}
