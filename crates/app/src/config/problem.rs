//! What is wrong with a configuration: all of it at once.

use std::fmt;

/// One wrong setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key.
    pub key: String,
    /// What is wrong with its value; never the value of a secret.
    pub what: String,
    /// Where the value came from: a file, an environment variable, or `not set`.
    pub origin: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {} ({})", self.key, self.what, self.origin)
    }
}

/// Everything that is wrong with a configuration; never empty.
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
