//! Use cases of the dashboard's logins: sign-up, login, authenticator, sessions, and confirmation by a one-time code.

pub mod code;
mod confirmation;
pub mod enrol;
pub mod invite;
pub mod log_in;
pub mod orders;
pub mod password;
mod recovery_codes;
pub mod sessions;
pub mod sign_up;
mod throttle;
mod token;
pub mod use_link;

use std::net::IpAddr;
use std::sync::Arc;

use cais_domain::ids::UserId;
use cais_domain::login::{Code, accepted_step};
use cais_ports::{
    Actor, CommitError, OneTimeCodes, PasswordHashError, Passwords, QueryError, Session, SigningSecret, User,
};
use jiff::Timestamp;

use crate::Ports;
pub use confirmation::{DecisionError, begin, confirm};
pub use throttle::Throttle;
pub use token::SecretToken;

/// The largest number of attempts to commit one change. A further attempt follows after a concurrent change.
const MAX_ATTEMPTS: u32 = 5;
/// The number of wrong one-time codes that ends a login or a confirmation.
const MAX_WRONG_CODES: u32 = 5;

/// The dependencies of logins. Clones share them.
#[derive(Clone)]
pub struct Logins {
    /// The ports of all use cases.
    pub ports: Ports,
    /// Hashes passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Computes one-time codes.
    pub codes: Arc<dyn OneTimeCodes>,
    /// Limits login attempts by e-mail and by IP address. Also limits requests for public pages and requests of
    /// sessions.
    pub throttle: Arc<Throttle>,
}

/// The browser that sends a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Browser {
    /// The IP address of the browser, if known.
    pub address: Option<IpAddr>,
    /// The browser's `User-Agent`. At most [`Browser::MAX_AGENT_CHARS`] characters are stored.
    pub agent: String,
}

impl Browser {
    /// The largest number of stored characters of a `User-Agent`.
    pub const MAX_AGENT_CHARS: usize = 200;

    fn address_text(&self) -> String {
        self.address.map_or_else(|| "unknown".to_owned(), |address| address.to_string())
    }
}

/// A user with a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// The session.
    pub session: Session,
    /// The user.
    pub user: User,
}

impl Visitor {
    /// Returns the user as an [`Actor`]: the audit log names each person in this form.
    #[must_use]
    pub fn actor(&self, browser: &Browser) -> Actor {
        person(&self.user.email, browser)
    }
}

/// Returns a user of the dashboard as an [`Actor`], for the audit log.
fn person(email: &str, browser: &Browser) -> Actor {
    Actor { name: email.to_owned(), source: "dashboard".to_owned(), host: browser.address_text() }
}

/// Logs that a one-time code was refused. `action` names the login step or the action that needs the code.
fn log_wrong_code(action: &str, user: UserId, browser: &Browser, error: &LoginError) {
    let client = browser.address_text();
    if *error == LoginError::LastCode {
        tracing::warn!(action, %user, client, "code refused; the login or the action has ended");
    } else {
        tracing::info!(action, %user, client, "code refused; the code is wrong or was used before");
    }
}

/// The reason why a login or an action of a user was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The e-mail, the password or the code is wrong. The error does not show which one is wrong.
    #[error("e-mail, password or code is wrong")]
    Refused,
    /// The action needs a one-time code, and none was entered. No attempt was counted.
    #[error("a one-time code is needed")]
    CodeNeeded,
    /// The e-mail, the user or the IP address has no attempt left.
    #[error("too many attempts; try again later")]
    Throttled,
    /// The session, the confirmation or the link does not exist or has ended.
    #[error("the session, the confirmation or the link has ended")]
    Over,
    /// The last permitted wrong code ended the login or the action.
    #[error("the last permitted wrong code ended the login or the action")]
    LastCode,
    /// Concurrent changes made every attempt to commit fail.
    #[error("other requests change the same record; try again")]
    Contended,
    /// A record could not be read.
    #[error("a record of a login could not be read")]
    Query(#[from] QueryError),
    /// The store failed.
    #[error("a change of a login could not be stored")]
    Store(#[source] CommitError),
    /// The password could not be hashed.
    #[error("the password could not be hashed")]
    Password(#[from] PasswordHashError),
    /// An operator's decision was refused. The one-time code was not used up.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// The secret of the authenticator could not be encrypted or decrypted.
    #[error("the secret of the authenticator could not be used")]
    Secret,
}

impl Logins {
    /// Creates the dependencies, with an empty throttle.
    #[must_use]
    pub fn new(ports: Ports, passwords: Arc<dyn Passwords>, codes: Arc<dyn OneTimeCodes>) -> Self {
        Self { ports, passwords, codes, throttle: Arc::default() }
    }

    /// Returns the time step of the code. `last` is the step of the last used code. Returns `None` if the code is
    /// wrong, or if its step is not after `last`.
    fn accept(&self, now: Timestamp, secret: &SigningSecret, last: Option<i64>, code: Code) -> Option<i64> {
        accepted_step(now, last, code, |step| self.codes.code(secret, step))
    }
}
