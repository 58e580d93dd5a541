//! The problems of a request.

use std::borrow::Cow;
use std::cell::RefCell;

/// The largest number of reported problems. Further problems are dropped, because they would not help the caller.
const MAX_ISSUES: usize = 64;
/// The longest path in messages, in characters. Longer paths are cut, because a caller may send a field name of any
/// length.
const MAX_PATH_CHARS: usize = 128;

/// A problem of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The position: `amount`, `split[0].percentage`, the name of a parameter or header, or empty for the whole body.
    pub path: String,
    /// The message, which follows the path: `must be a number`.
    pub message: Cow<'static, str>,
}

impl Issue {
    /// Returns a problem at `path`, which is cut to a maximum length.
    #[must_use]
    pub fn new(path: &str, message: impl Into<Cow<'static, str>>) -> Self {
        let path = match path.char_indices().nth(MAX_PATH_CHARS) {
            Some((end, _)) => format!("{}…", path.get(..end).unwrap_or_default()),
            None => path.to_owned(),
        };
        Self { path, message: message.into() }
    }
}

/// A collection of the problems of a request. The problems are reported together.
#[derive(Debug, Default)]
pub struct Issues(RefCell<Vec<Issue>>);

impl Issues {
    /// Adds a problem.
    pub fn add(&self, path: &str, message: impl Into<Cow<'static, str>>) {
        let mut issues = self.0.borrow_mut();
        if issues.len() < MAX_ISSUES {
            issues.push(Issue::new(path, message));
        }
    }

    /// Returns `true` if there are no problems so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns `value` if there are no problems. `value` may be `None` only if the caller added a problem for the
    /// missing value.
    ///
    /// # Errors
    /// All problems.
    pub fn unless_any<T>(self, value: Option<T>) -> Result<T, Vec<Issue>> {
        match value {
            Some(value) if self.is_empty() => Ok(value),
            Some(_) | None => Err(self.into_vec()),
        }
    }

    /// Returns the problems in the order of their discovery.
    #[must_use]
    pub fn into_vec(self) -> Vec<Issue> {
        self.0.into_inner()
    }
}
