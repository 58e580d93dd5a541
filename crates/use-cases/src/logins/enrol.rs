//! Enrols the authenticator of a user. Enrolment is part of the first login.

use cais_domain::login::Code;
use cais_ports::{ChangeSet, CommitError, Session, SessionStage, SigningSecret, Totp, User, Write};

use super::code::wrong_code;
use super::log_in::{NewSession, SESSION_PURPOSE};
use super::token::SecretToken;
use super::{Browser, LoginError, Logins, MAX_ATTEMPTS, Visitor, log_wrong_code, person, recovery_codes, sessions};
use crate::audit::{self, AuditedChange};

/// The result of an enrolment. The recovery codes cannot be read later.
#[derive(Debug, Clone)]
pub struct Enrolled {
    /// The session that replaces the session of the login. It is in the stage [`SessionStage::Complete`].
    pub created: NewSession,
    /// The recovery codes, in groups of four characters.
    pub recovery_codes: Vec<String>,
}

/// Returns the secret to enter in the user's authenticator.
///
/// # Errors
/// [`LoginError::Over`] if the user has no enrolment in progress, for example because the authenticator is enrolled.
/// [`LoginError::Secret`] if the secret cannot be decrypted.
pub fn pending_secret(logins: &Logins, user: &User) -> Result<SigningSecret, LoginError> {
    let Totp::Enrolling { secret } = &user.totp else { return Err(LoginError::Over) };
    logins.ports.secret_cipher.decrypt(&user.id.to_string(), secret).map_err(|_| LoginError::Secret)
}

/// Returns whether the enrolment is done: the session of this cookie ended before its login was complete, and the user
/// has an authenticator now. This is the case if a browser has sent the form of the enrolment twice.
///
/// # Errors
/// [`LoginError::Query`].
pub async fn is_done(logins: &Logins, cookie: &str) -> Result<bool, LoginError> {
    let ports = &logins.ports;
    let Some(token) = SecretToken::<cais_domain::ids::kind::Session>::parse(cookie) else { return Ok(false) };
    let Some(session) = ports.queries.find_session(token.id).await? else { return Ok(false) };
    let has_ended = session.stage == SessionStage::Password && session.ended_at.is_some();
    if !has_ended || !token.has(ports, SESSION_PURPOSE, &session.keyed_hash) {
        return Ok(false);
    }
    let user = ports.queries.find_user(session.user).await?;
    Ok(user.is_some_and(|user| matches!(user.totp, Totp::Enrolled { .. })))
}

/// Checks the first code of the authenticator. If the code is right, a complete session replaces the session.
///
/// # Errors
/// [`LoginError::Refused`] for a wrong code, [`LoginError::LastCode`] for the last permitted wrong code, and other
/// variants of [`LoginError`].
pub async fn confirm(
    logins: &Logins,
    browser: &Browser,
    visitor: &Visitor,
    text: &str,
) -> Result<Enrolled, LoginError> {
    let ports = &logins.ports;
    let now = ports.clock.now();
    for _ in 0..MAX_ATTEMPTS {
        let Visitor { session, user } = sessions::reread(logins, &visitor.session).await?;
        if session.stage != SessionStage::Password {
            return Err(LoginError::Over);
        }
        let secret = pending_secret(logins, &user)?;
        let step = Code::parse(text).and_then(|code| logins.accept(now, &secret, None, code));
        let Some(last_step) = step else {
            let (change, error) = wrong_code(session, now);
            match ports.store.commit(change).await {
                Err(CommitError::Stale) => continue,
                outcome => outcome.map_err(LoginError::Store)?,
            };
            log_wrong_code("enrolment", user.id, browser, &error);
            return Err(error);
        };
        let Totp::Enrolling { secret } = user.totp.clone() else { return Err(LoginError::Over) };
        let (recovery_codes, recovery) = recovery_codes::draw(logins);
        let created = NewSession::draw(logins, &user, SessionStage::Complete, browser, now);
        let email = user.email.clone();
        let audited = AuditedChange {
            action: "user.enrol_totp",
            subject: user.id.to_string(),
            account: user.role.account(),
            before: None,
            after: None,
        };
        let mut change = ChangeSet::new(now);
        change.writes.push(Write::update(Session { ended_at: Some(now), ..session }));
        change.writes.push(Write::update(User { totp: Totp::Enrolled { secret, last_step, recovery }, ..user }));
        change.writes.push(Write::insert(created.session.clone()));
        change.writes.push(audit::record(ports, &person(&email, browser), now, audited));
        match ports.store.commit(change).await {
            Ok(_) => {
                logins.throttle.restore(&email);
                return Ok(Enrolled { created, recovery_codes });
            }
            Err(CommitError::Stale) => {}
            Err(error) => return Err(LoginError::Store(error)),
        }
    }
    Err(LoginError::Contended)
}
