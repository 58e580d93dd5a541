//! Defects of answers, and the parsing of instants.

use cais_ports::AcquirerError;
use jiff::Timestamp;

/// The reason an answer cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// The answer is not the expected JSON.
    Unreadable(String),
    /// A field of the answer is missing or invalid, or contradicts the request or another field.
    Mismatch(String),
}

/// The reason a read failed.
#[derive(Debug)]
pub(crate) enum FindError {
    /// The request was not sent, or its answer is missing or unsuccessful.
    Upstream(AcquirerError),
    /// The answer has a defect.
    Defect(Defect),
}

impl Defect {
    pub(crate) fn mismatch(field: &str, what: &str) -> Self {
        Self::Mismatch(format!("the answer's {field} {what}"))
    }

    pub(crate) fn reason(self) -> String {
        match self {
            Self::Unreadable(reason) | Self::Mismatch(reason) => reason,
        }
    }
}

impl FindError {
    /// Converts the error of a read. A refused read becomes an unknown outcome, because the refusal proves nothing
    /// about the record, and the read may be repeated.
    pub(crate) fn of_a_read(self) -> AcquirerError {
        match self {
            Self::Upstream(AcquirerError::Refused(reason)) => AcquirerError::OutcomeUnknown(reason),
            Self::Upstream(error) => error,
            Self::Defect(defect) => AcquirerError::OutcomeUnknown(defect.reason()),
        }
    }
}

impl From<Defect> for FindError {
    fn from(defect: Defect) -> Self {
        Self::Defect(defect)
    }
}

impl From<AcquirerError> for FindError {
    fn from(error: AcquirerError) -> Self {
        Self::Upstream(error)
    }
}

/// Parses an instant of RFC 3339, and truncates it to microseconds, the precision of the database.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let instant: Timestamp = text.parse().ok()?;
    Timestamp::from_microsecond(instant.as_microsecond()).ok()
}
