//! What keeps an answer from being used, and the small values that every answer has.

use cais_ports::AcquirerError;
use jiff::Timestamp;

/// Why an answer cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// It is not the JSON that was asked for.
    Unreadable(String),
    /// It is, and says something that cannot be.
    Mismatch(String),
}

/// Why something could not be read.
#[derive(Debug)]
pub(crate) enum FindError {
    /// There was no usable answer.
    Upstream(AcquirerError),
    /// There was one, which cannot be believed.
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
    /// A read has no effect, so whatever it was, it may be asked again.
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

/// RFC 3339, cut to the microseconds that are stored.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let instant: Timestamp = text.parse().ok()?;
    Timestamp::from_microsecond(instant.as_microsecond()).ok()
}
