//! What is worth one line in the log and no more, although it is seen at every look.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// How much this process remembers; beyond it, it forgets everything and says it once more.
const REMEMBERED: usize = 10_000;

static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether this process has not said `what` of that infraction yet.
pub(super) fn first_time(acquirer: &impl ToString, infraction: &str, what: &str) -> bool {
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() >= REMEMBERED {
        said.clear();
    }
    said.insert(format!("{} {what} {infraction}", acquirer.to_string()))
}
