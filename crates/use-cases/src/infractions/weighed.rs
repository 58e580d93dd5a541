//! Which later ends of lost infractions this process has weighed: nothing was taken for them, and they are not looked up each time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cais_domain::ids::InfractionId;
use cais_domain::infraction::Infraction;
use cais_ports::{Queries, UpstreamInfraction};
use jiff::Timestamp;

use crate::ports::Ports;

/// How much is remembered for one store; beyond it, everything is forgotten and weighed once more.
const REMEMBERED: usize = 10_000;
/// For how many hours after an end it is weighed again each hour: money may go back later than it is told.
const WEIGHED_AGAIN_H: i64 = 25;
/// How long an hour is, in seconds.
const HOUR_S: i64 = 3_600;

/// An infraction, its end at the acquirer, and how many hours after that it was weighed.
type Name = (InfractionId, Timestamp, i64);

/// What was weighed for one store.
struct Weighed {
    store: Weak<dyn Queries>,
    names: BTreeSet<Name>,
}

static WEIGHED: Mutex<Vec<Weighed>> = Mutex::new(Vec::new());

/// Whether this process has weighed that end, so late after it.
pub(super) fn is_known(ports: &Ports, ours: &Infraction, told: &UpstreamInfraction, now: Timestamp) -> bool {
    let Some(name) = name(ours, told, now) else { return false };
    let store = Arc::downgrade(&ports.queries);
    let weighed = WEIGHED.lock().unwrap_or_else(PoisonError::into_inner);
    weighed.iter().any(|of| of.store.ptr_eq(&store) && of.names.contains(&name))
}

/// It has now.
pub(super) fn remember(ports: &Ports, ours: &Infraction, told: &UpstreamInfraction, now: Timestamp) {
    let Some(name) = name(ours, told, now) else { return };
    let store = Arc::downgrade(&ports.queries);
    let mut weighed = WEIGHED.lock().unwrap_or_else(PoisonError::into_inner);
    weighed.retain(|of| of.store.strong_count() > 0);
    if let Some(of) = weighed.iter_mut().find(|of| of.store.ptr_eq(&store)) {
        if of.names.len() >= REMEMBERED {
            of.names.clear();
        }
        of.names.insert(name);
    } else {
        weighed.push(Weighed { store, names: BTreeSet::from([name]) });
    }
}

fn name(ours: &Infraction, told: &UpstreamInfraction, now: Timestamp) -> Option<Name> {
    let ended_at = told.resolved_at?;
    let hours = now.as_second().saturating_sub(ended_at.as_second()).div_euclid(HOUR_S);
    Some((ours.id, ended_at, hours.min(WEIGHED_AGAIN_H)))
}
