//! Use cases of the dashboard's logins: sign-up, login, authenticator, sessions, and confirmation by a one-time code.

pub mod code;
mod confirmation;
pub mod enrol;
pub mod invite;
pub mod log_in;
pub mod orders;
pub mod password;
pub mod sessions;
pub mod sign_up;
mod throttle;
mod token;
pub mod use_link;

use std::net::IpAddr;
use std::sync::Arc;

use cais_domain::login::{Code, accepted_step};
use cais_ports::{
    CommitError, OneTimeCodes, Operator, PasswordHashError, Passwords, QueryError, Session, SigningSecret, User,
};
use jiff::Timestamp;

use crate::Ports;
pub use confirmation::{begin, confirm};
pub use throttle::Throttle;
pub use token::SecretToken;

/// The largest number of attempts of one change after concurrent changes.
const MAX_ATTEMPTS: u32 = 5;
/// The wrong one-time codes that end a login or a confirmation.
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
    /// Limits attempts by e-mail and by address.
    pub throttle: Arc<Throttle>,
}

/// The browser behind a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Browser {
    /// The address.
    pub address: Option<IpAddr>,
    /// The browser, as it names itself; at most [`Browser::MAX_AGENT_CHARS`] are stored.
    pub agent: String,
}

impl Browser {
    /// The stored characters of a browser's name.
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
    /// Returns the user as the audit log names a person.
    #[must_use]
    pub fn operator(&self, browser: &Browser) -> Operator {
        person(&self.user.email, browser)
    }
}

/// Returns the person of a change in the dashboard, for the audit log.
fn person(email: &str, browser: &Browser) -> Operator {
    Operator { name: email.to_owned(), source: "dashboard".to_owned(), host: browser.address_text() }
}

/// The reason a login, or an action of a user, was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// Wrong e-mail, password or code. The cause is not distinguished.
    #[error("e-mail, password or code is wrong")]
    Refused,
    /// Too many attempts for this e-mail or from this address.
    #[error("too many attempts; try again later")]
    Throttled,
    /// The session, the confirmation or the link does not exist, or is over.
    #[error("the session, the confirmation or the link is over")]
    Over,
    /// Concurrent changes prevented every attempt.
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

    /// Returns the time step of a code of this secret, unless it was used before.
    fn accept(&self, now: Timestamp, secret: &SigningSecret, last: Option<i64>, code: Code) -> Option<i64> {
        accepted_step(now, last, code, |step| self.codes.code(secret, step))
    }
}
