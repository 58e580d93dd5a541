//! The first step of a login: e-mail and password.

use cais_domain::ids::SessionId;
use cais_domain::money::Money;
use cais_ports::{ChangeSet, CommitError, Secret, Session, SessionStage, SigningSecret, Totp, User, Write};
use jiff::{SignedDuration, Timestamp};

use super::token::SecretToken;
use super::{Browser, LoginError, Logins};
use crate::accounts::AccountEmail;

/// The `purpose` argument of the keyed hash of a session's secret.
pub(super) const SESSION_PURPOSE: &str = "dashboard-session";
/// The time in which the one-time code must follow the password.
const PASSWORD_STAGE_LASTS: SignedDuration = SignedDuration::from_mins(10);
/// The longest duration of a complete session: one working day.
const COMPLETE_STAGE_LASTS: SignedDuration = SignedDuration::from_hours(12);

/// A new session. Its secret cannot be read later.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The value of the cookie.
    pub token: SecretToken<cais_domain::ids::kind::Session>,
    /// The record for the store, with a hash of the secret.
    pub session: Session,
}

impl NewSession {
    /// Creates a session of the user with a random secret.
    pub(super) fn draw(logins: &Logins, user: &User, stage: SessionStage, browser: &Browser, now: Timestamp) -> Self {
        let ports = &logins.ports;
        let id = SessionId::new(ports.ids.next_uuid());
        let token = SecretToken::draw(ports, id);
        let lasts = match stage {
            SessionStage::Password => PASSWORD_STAGE_LASTS,
            SessionStage::Complete => COMPLETE_STAGE_LASTS,
        };
        let session = Session {
            id,
            user: user.id,
            account: user.role.account(),
            keyed_hash: token.hash(ports, SESSION_PURPOSE),
            stage,
            address: browser.address_text(),
            agent: browser.agent.chars().filter(|one| !one.is_control()).take(Browser::MAX_AGENT_CHARS).collect(),
            created_at: now,
            expires_at: now.saturating_add(lasts).unwrap_or(Timestamp::MAX),
            seen_at: now,
            wrong_codes: 0,
            sent_without_code: Money::ZERO,
            ended_at: None,
            version: 0,
        };
        Self { token, session }
    }
}

/// Checks the password and starts a session that needs a one-time code. For a user without an authenticator, a new
/// secret is created for the enrolment.
///
/// An unknown e-mail takes as much work as a wrong password, and causes the same error. So a caller cannot find out
/// which e-mails have a login.
///
/// # Errors
/// [`LoginError`].
pub async fn log_in(
    logins: &Logins,
    browser: &Browser,
    email: &str,
    password: &Secret,
) -> Result<NewSession, LoginError> {
    let ports = &logins.ports;
    let now = ports.clock.now();
    let email = AccountEmail::parse(email).ok();
    let name = email.as_ref().map(AccountEmail::as_str).unwrap_or_default();
    if !logins.throttle.take(name, browser.address, now) {
        tracing::warn!(client = %browser.address_text(), "login refused; too many attempts");
        return Err(LoginError::Throttled);
    }
    let user = ports.queries.find_user_by_email(name).await?;
    let stored = user.as_ref().and_then(|user| user.password.as_ref());
    let is_right = logins.passwords.verify(password, stored).await?;
    let Some(user) = user.filter(|_| is_right) else {
        tracing::info!(client = %browser.address_text(), "login refused; e-mail or password is wrong");
        return Err(LoginError::Refused);
    };
    let created = NewSession::draw(logins, &user, SessionStage::Password, browser, now);
    let totp = match user.totp.clone() {
        enrolled @ Totp::Enrolled { .. } => enrolled,
        // A secret from an earlier login is replaced, because that login may have shown it to another person.
        Totp::Missing | Totp::Enrolling { .. } => {
            let mut bytes = [0; 32];
            ports.keyed_hash.fill_random(&mut bytes);
            let sealed = ports.secret_cipher.encrypt(&user.id.to_string(), &SigningSecret(bytes));
            Totp::Enrolling { secret: sealed.map_err(|_| LoginError::Secret)? }
        }
    };
    let mut change = ChangeSet::new(now);
    // This write checks the user's version. So the login fails if the password changed after the user was read.
    change.writes.push(Write::update(User { totp, ..user }));
    change.writes.push(Write::insert(created.session.clone()));
    match ports.store.commit(change).await {
        Ok(_) => Ok(created),
        Err(CommitError::Stale) => Err(LoginError::Contended),
        Err(error) => Err(LoginError::Store(error)),
    }
}
