//! The kind of money that a service moves.

use std::fmt;

use super::{Config, Problem};

/// The kind of money that a database holds, for its whole life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// Play money of the built-in sandbox.
    Sandbox,
    /// Real money at acquirers.
    Live,
}

impl World {
    /// Returns the name in the database and in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Live => "live",
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Config {
    /// Returns the world that the configuration selects.
    ///
    /// # Errors
    /// A [`Problem`] if neither the sandbox nor an acquirer is configured. The problem names both choices, because the sandbox is never a
    /// default.
    pub fn world(&self) -> Result<World, Problem> {
        if self.sandbox {
            Ok(World::Sandbox)
        } else if self.acquirers.is_empty() {
            Err(Problem {
                key: "acquirers".to_owned(),
                what: "is empty: configure an acquirer (`[acquirers.NAME]`), or select the built-in sandbox and its play money with `cais serve --sandbox` or `sandbox = true`".to_owned(),
                origin: "not set".to_owned(),
            })
        } else {
            Ok(World::Live)
        }
    }
}
