//! The second step of a login: the user enters a one-time code or a recovery code.

use cais_domain::login::Code;
use cais_ports::{ChangeSet, CommitError, Session, SessionStage, Totp, User, Write};
use jiff::Timestamp;

use super::log_in::NewSession;
use super::{
    Browser, LoginError, Logins, MAX_ATTEMPTS, MAX_WRONG_CODES, Visitor, log_wrong_code, recovery_codes, sessions,
};

/// Checks the code. If it is right, the session is replaced by a complete session with another secret. Each code is
/// accepted once. The fifth wrong code ends the session.
///
/// # Errors
/// [`LoginError::Refused`] for a wrong code, [`LoginError::LastCode`] for the last permitted wrong code, and other
/// variants of [`LoginError`].
pub async fn enter(
    logins: &Logins,
    browser: &Browser,
    visitor: &Visitor,
    text: &str,
) -> Result<NewSession, LoginError> {
    let ports = &logins.ports;
    let now = ports.clock.now();
    let name = visitor.user.id.to_string();
    if !logins.throttle.take(&name, browser.address, now) {
        tracing::warn!(user = %name, client = %browser.address_text(), "code refused; too many attempts");
        return Err(LoginError::Throttled);
    }
    for _ in 0..MAX_ATTEMPTS {
        let Visitor { session, user } = sessions::reread(logins, &visitor.session).await?;
        if session.stage != SessionStage::Password {
            return Err(LoginError::Over);
        }
        let mut change = ChangeSet::new(now);
        let Some(totp) = judge(logins, &user, text, now)? else {
            let (change, error) = wrong_code(session, now);
            match ports.store.commit(change).await {
                Err(CommitError::Stale) => continue,
                outcome => outcome.map_err(LoginError::Store)?,
            };
            log_wrong_code("login", user.id, browser, &error);
            return Err(error);
        };
        let created = NewSession::draw(logins, &user, SessionStage::Complete, browser, now);
        let email = user.email.clone();
        change.writes.push(Write::update(Session { ended_at: Some(now), ..session }));
        change.writes.push(Write::update(User { totp, ..user }));
        change.writes.push(Write::insert(created.session.clone()));
        match ports.store.commit(change).await {
            Ok(_) => {
                logins.throttle.restore(&email);
                logins.throttle.restore(&name);
                tracing::info!(user = %created.session.user, client = %browser.address_text(), "user logged in");
                return Ok(created);
            }
            Err(CommitError::Stale) => {}
            Err(error) => return Err(LoginError::Store(error)),
        }
    }
    Err(LoginError::Contended)
}

/// Returns the change that counts a wrong code in the session, and the error for the user.
pub(super) fn wrong_code(session: Session, now: Timestamp) -> (ChangeSet, LoginError) {
    let wrong_codes = session.wrong_codes.saturating_add(1);
    let is_last = wrong_codes >= MAX_WRONG_CODES;
    let mut change = ChangeSet::new(now);
    change.writes.push(Write::update(Session { wrong_codes, ended_at: is_last.then_some(now), ..session }));
    (change, if is_last { LoginError::LastCode } else { LoginError::Refused })
}

/// Checks the one-time code or recovery code. Returns the user's authenticator, as it must be stored so that the code
/// is not accepted again. Returns `None` if the code is wrong.
fn judge(logins: &Logins, user: &User, text: &str, now: Timestamp) -> Result<Option<Totp>, LoginError> {
    let Totp::Enrolled { secret, last_step, recovery } = &user.totp else { return Err(LoginError::Over) };
    let Some(code) = Code::parse(text) else {
        let Some(left) = recovery_codes::without(logins, recovery, text) else { return Ok(None) };
        return Ok(Some(Totp::Enrolled { secret: secret.clone(), last_step: *last_step, recovery: left }));
    };
    let opened = logins.ports.secret_cipher.decrypt(&user.id.to_string(), secret).map_err(|_| LoginError::Secret)?;
    let step = logins.accept(now, &opened, Some(*last_step), code);
    Ok(step.map(|step| Totp::Enrolled { secret: secret.clone(), last_step: step, recovery: recovery.clone() }))
}
