//! Logs a recurring line about an infraction only once per process.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The largest number of recorded lines. When the limit is reached, the record is cleared, and every line can be logged
/// again.
const MAX_LINES: usize = 10_000;

static LOGGED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Returns `true` if this process has not logged `what` about the infraction yet, and records that it is logged now.
pub(super) fn is_first(acquirer: &impl ToString, infraction: &str, what: &str) -> bool {
    let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    if logged.len() >= MAX_LINES {
        logged.clear();
    }
    logged.insert(format!("{} {what} {infraction}", acquirer.to_string()))
}
