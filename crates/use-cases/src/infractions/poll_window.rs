//! Limits the wide reads of this process to one per list and full hour. A wide read covers all rows that can still
//! change.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::Queries;
use jiff::Timestamp;

use crate::ports::Ports;

/// The length of an hour in seconds.
const HOUR_S: i64 = 3_600;

/// The last wide read of one list. A process can have several stores, for example in tests, so `store` is compared too.
struct WideRead {
    store: Weak<dyn Queries>,
    acquirer: AcquirerName,
    /// The value of [`hour`] at the read.
    hour: i64,
}

/// The wide reads of this process. They are recorded apart from the stored position of the list, because one row that
/// keeps the position back would make every pass wide.
static WIDE_READS: Mutex<Vec<WideRead>> = Mutex::new(Vec::new());

/// Returns the number of the full hour that contains the instant, counted from 1970.
pub(super) fn hour(at: Timestamp) -> i64 {
    at.as_second().div_euclid(HOUR_S)
}

/// Returns whether this process has made a wide read in the hour of `now`.
pub(super) fn was_read(ports: &Ports, acquirer: &AcquirerName, now: Timestamp) -> bool {
    let store = Arc::downgrade(&ports.queries);
    let read = WIDE_READS.lock().unwrap_or_else(PoisonError::into_inner);
    read.iter().any(|read| read.acquirer == *acquirer && read.hour == hour(now) && read.store.ptr_eq(&store))
}

/// Records a wide read, whether or not it succeeded.
pub(super) fn record_read(ports: &Ports, acquirer: &AcquirerName, now: Timestamp) {
    let store = Arc::downgrade(&ports.queries);
    let mut read = WIDE_READS.lock().unwrap_or_else(PoisonError::into_inner);
    read.retain(|read| read.store.strong_count() > 0 && !(read.acquirer == *acquirer && read.store.ptr_eq(&store)));
    read.push(WideRead { store, acquirer: acquirer.clone(), hour: hour(now) });
}
