//! Failures of the database, classified by the reaction that they require.

use cais_ports::{CommitError, QueryError};
use diesel::result::{DatabaseErrorKind, Error};

/// A failure of a statement, classified by the reaction that it requires. The caller rolls back a transaction that is still open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// The statement conflicted with another transaction or took too long. A retry may succeed.
    #[error("conflict with another transaction: {0}")]
    Again(String),
    /// Another transaction kept a lock for longer than the lock wait of this transaction.
    #[error("a row is locked: {0}")]
    Locked(String),
    /// The connection is lost, or the server behind it no longer accepts writes.
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The database is reachable but cannot execute statements now.
    #[error("the database is temporarily unavailable: {0}")]
    Down(String),
    /// The database refuses a statement that should have been correct.
    #[error("the database refused the statement: {0}")]
    Refused(String),
    /// A row has a content that the store never writes.
    #[error("a row is invalid: {0}")]
    Corrupt(String),
}

/// The text of the error after a lock timeout.
const LOCKED: &str = "lock timeout";

/// Texts of temporary conflicts. diesel exposes no SQLSTATE, so only the text identifies most conflicts.
const CONFLICT: [&str; 5] =
    ["deadlock detected", "statement timeout", "could not serialize", "database is locked", "database table is locked"];

/// Texts of a lost connection.
const LOST: [&str; 8] = [
    "server closed the connection",
    "terminating connection",
    "no connection to the server",
    "could not receive data",
    "could not send data",
    "connection to server",
    "SSL connection has been closed",
    "SSL SYSCALL error",
];

/// Texts of a database that is reachable but cannot execute statements.
const DOWN: [&str; 11] = [
    "No space left",
    "out of memory",
    "disk I/O error",
    "database or disk is full",
    "attempt to write a readonly database",
    "unable to open database file",
    "the database system is",
    "too many",
    "remaining connection slots",
    "permission denied",
    "out of shared memory",
];

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        if let Error::DatabaseError(kind, information) = &error {
            return by_kind(*kind, information.message());
        }
        let text = error.to_string();
        if matches!(error, Error::BrokenTransactionManager) {
            return Self::Lost(text);
        }
        if matches!(error, Error::DeserializationError(_)) {
            return Self::Corrupt(text);
        }
        by_text(&text)
    }
}

fn by_kind(kind: DatabaseErrorKind, text: &str) -> Fault {
    match kind {
        DatabaseErrorKind::SerializationFailure => Fault::Again(text.to_owned()),
        DatabaseErrorKind::ClosedConnection
        | DatabaseErrorKind::UnableToSendCommand
        | DatabaseErrorKind::ReadOnlyTransaction => Fault::Lost(text.to_owned()),
        DatabaseErrorKind::UniqueViolation
        | DatabaseErrorKind::ForeignKeyViolation
        | DatabaseErrorKind::NotNullViolation
        | DatabaseErrorKind::CheckViolation
        | DatabaseErrorKind::RestrictViolation
        | DatabaseErrorKind::ExclusionViolation => Fault::Refused(text.to_owned()),
        _ => by_text(text),
    }
}

fn by_text(text: &str) -> Fault {
    let has = |known: &[&str]| known.iter().any(|part| text.contains(part));
    if text.contains(LOCKED) {
        Fault::Locked(text.to_owned())
    } else if has(&CONFLICT) {
        Fault::Again(text.to_owned())
    } else if has(&LOST) {
        Fault::Lost(text.to_owned())
    } else if has(&DOWN) {
        Fault::Down(text.to_owned())
    } else {
        Fault::Refused(text.to_owned())
    }
}

impl From<Fault> for QueryError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Again(text) | Fault::Locked(text) | Fault::Lost(text) | Fault::Down(text) => Self::Unavailable(text),
            Fault::Refused(text) | Fault::Corrupt(text) => Self::Corrupt(text),
        }
    }
}

impl From<Fault> for CommitError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Again(text) | Fault::Locked(text) | Fault::Lost(text) | Fault::Down(text) => Self::Unavailable(text),
            Fault::Refused(text) | Fault::Corrupt(text) => Self::Corrupt(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use diesel::result::{DatabaseErrorKind, Error};

    use super::Fault;

    fn fault(kind: DatabaseErrorKind, text: &str) -> Fault {
        Error::DatabaseError(kind, Box::new(text.to_owned())).into()
    }

    #[test]
    fn error_without_code_is_classified_by_text() {
        let text = "deadlock detected";
        assert_eq!(fault(DatabaseErrorKind::Unknown, text), Fault::Again(text.into()));
        let text = "canceling statement due to lock timeout";
        assert_eq!(fault(DatabaseErrorKind::Unknown, text), Fault::Locked(text.into()));
        let text = "terminating connection due to administrator command";
        assert_eq!(fault(DatabaseErrorKind::Unknown, text), Fault::Lost(text.into()));
        let text = "could not extend file: No space left on device";
        assert_eq!(fault(DatabaseErrorKind::Unknown, text), Fault::Down(text.into()));
        let text = "invalid byte sequence for encoding";
        assert_eq!(fault(DatabaseErrorKind::Unknown, text), Fault::Refused(text.into()));
    }

    #[test]
    fn demoted_primary_is_a_lost_connection() {
        assert_eq!(fault(DatabaseErrorKind::ReadOnlyTransaction, "x"), Fault::Lost("x".into()));
    }
}
