//! How rarely everything that can still change is read of an acquirer's list: once in each full hour.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::Queries;
use jiff::Timestamp;

use crate::ports::Ports;

/// How long an hour is, in seconds.
const HOUR_S: i64 = 3_600;

/// That everything was read of a list, in which hour, for which store.
struct Read {
    store: Weak<dyn Queries>,
    acquirer: AcquirerName,
    hour: i64,
}

/// What this process read, whatever became of its position: one row that waits must not make every pass a wide one.
static READ: Mutex<Vec<Read>> = Mutex::new(Vec::new());

/// The full hour that an instant belongs to.
pub(super) fn hour(at: Timestamp) -> i64 {
    at.as_second().div_euclid(HOUR_S)
}

/// Whether this process has read everything in the hour of `now`.
pub(super) fn was_read(ports: &Ports, acquirer: &AcquirerName, now: Timestamp) -> bool {
    let store = Arc::downgrade(&ports.queries);
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.iter().any(|read| read.acquirer == *acquirer && read.hour == hour(now) && read.store.ptr_eq(&store))
}

/// It has, or has tried to.
pub(super) fn remember(ports: &Ports, acquirer: &AcquirerName, now: Timestamp) {
    let store = Arc::downgrade(&ports.queries);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.retain(|read| read.store.strong_count() > 0 && !(read.acquirer == *acquirer && read.store.ptr_eq(&store)));
    read.push(Read { store, acquirer: acquirer.clone(), hour: hour(now) });
}
