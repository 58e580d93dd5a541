//! The problems of a configuration, all reported together.

use std::fmt;

/// A wrong setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key.
    pub key: String,
    /// The problem of the value. The text never contains a secret.
    pub what: String,
    /// Origin of the value: a file, an environment variable, `command line`, or `not set`.
    pub origin: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {} ({})", self.key, self.what, self.origin)
    }
}

/// All problems of a configuration; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [only] => write!(formatter, "the configuration has a mistake: {only}"),
            all => {
                write!(formatter, "the configuration has {} mistakes:", all.len())?;
                all.iter().try_for_each(|problem| write!(formatter, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for Problems {}
