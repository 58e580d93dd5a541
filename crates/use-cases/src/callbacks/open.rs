//! The limit of open callbacks of one acquirer. A callback is open until it is done or unmatched.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::{CallbackCounts, QueryError, alerts};

use crate::ports::Ports;

/// The largest number of open callbacks of one acquirer. While the acquirer cannot be read, 25 payments per second
/// reach the limit after about an hour. In the store, that number of callbacks needs about 50 MB. The callbacks are
/// counted only from time to time, so an acquirer can exceed the limit until the next [`count`].
const MAX_OPEN: u64 = 100_000;

/// The number of open callbacks of each acquirer at the last [`count`]. Clones share the numbers.
#[derive(Debug, Clone, Default)]
pub struct OpenCallbacks(Arc<RwLock<BTreeMap<AcquirerName, u64>>>);

impl OpenCallbacks {
    /// Returns `true` if the acquirer had reached the limit at the last [`count`].
    pub(super) fn is_full(&self, acquirer: &AcquirerName) -> bool {
        let counts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        counts.get(acquirer).is_some_and(|count| *count >= MAX_OPEN)
    }

    fn set(&self, counts: &BTreeMap<AcquirerName, u64>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clone_from(counts);
    }
}

/// Counts the open callbacks of each acquirer, and stores the numbers for [`super::receive()`]. Each acquirer that has
/// reached the limit is logged.
///
/// # Errors
/// [`QueryError`] if the store fails.
pub async fn count(ports: &Ports) -> Result<CallbackCounts, QueryError> {
    let counts = ports.queries.count_callbacks().await?;
    ports.open_callbacks.set(&counts.open);
    for (acquirer, open) in counts.open.iter().filter(|(name, _)| ports.open_callbacks.is_full(name)) {
        tracing::error!(
            alert = alerts::CALLBACKS_FULL, %acquirer, open,
            "acquirer has too many open callbacks; further callbacks are answered with 503"
        );
    }
    Ok(counts)
}
