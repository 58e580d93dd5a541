//! Classifies failed attempts.

use std::error::Error;
use std::io;

use cais_ports::webhooks::AttemptError;
use reqwest::StatusCode;

use crate::resolver::Unresolved;

/// Returns the reason why no answer arrived.
pub(crate) fn of_error(error: &reqwest::Error) -> AttemptError {
    // All causes are searched, because each layer above the connector wraps the error.
    if let Some(found) = causes(error).find_map(classified) {
        return found;
    }
    if error.is_timeout() {
        AttemptError::TimedOut
    } else if error.is_connect() && causes(error).any(is_unexpected_eof) {
        // The receiver accepted the TCP connection, and closed it during the TLS handshake.
        AttemptError::TlsFailed
    } else if error.is_connect() {
        AttemptError::ConnectionFailed
    } else {
        AttemptError::ConnectionLost
    }
}

/// Returns the reason why a status is a failure; `None` for success.
pub(crate) fn of_status(status: StatusCode) -> Option<AttemptError> {
    if status.is_success() {
        None
    } else if status.is_redirection() {
        Some(AttemptError::Redirected)
    } else {
        Some(AttemptError::Refused)
    }
}

fn classified(cause: &(dyn Error + 'static)) -> Option<AttemptError> {
    if let Some(unresolved) = cause.downcast_ref::<Unresolved>() {
        return Some(match unresolved {
            Unresolved::NotAllowed => AttemptError::AddressNotAllowed,
            Unresolved::NotFound => AttemptError::NameNotResolved,
        });
    }
    cause.is::<rustls::Error>().then_some(AttemptError::TlsFailed)
}

fn is_unexpected_eof(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::UnexpectedEof)
}

/// Returns all causes of `error`. An error that is wrapped in an I/O error is included: `source` would skip it.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let current = next?;
        next = match current.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|inner| -> &(dyn Error + 'static) { inner }),
            None => current.source(),
        };
        Some(current)
    })
}
