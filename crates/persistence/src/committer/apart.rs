//! Finds the change sets of a batch that have to wait for another transaction, so that the other change sets commit without them.

use std::collections::{BTreeMap, BTreeSet};

use cais_ports::ChangeSet;

use super::lock;
use super::observe::{Row, row_of_idempotency_record, row_of_record, row_of_value};
use super::touched::TouchedKeys;
use crate::engine::{Engine, Lookup};
use crate::error::Fault;
use crate::sql::Session;

/// The keys of one table, each with the positions of the change sets that touch it.
type Keys = BTreeMap<Vec<String>, Vec<usize>>;

/// Returns the positions of the change sets that touch a row that another transaction has locked. Rows that another transaction inserted
/// but did not commit are invisible and not found.
pub(super) fn locked(
    engine: &dyn Engine,
    session: &mut dyn Session,
    changes: &[&ChangeSet],
) -> Result<BTreeSet<usize>, Fault> {
    let mut tables: BTreeMap<&str, (&Lookup, Keys)> = BTreeMap::new();
    for (place, change) in changes.iter().enumerate() {
        for (lookup, key) in rows(change) {
            let (_, keys) = tables.entry(lookup.table()).or_insert_with(|| (lookup, Keys::new()));
            keys.entry(key).or_default().push(place);
        }
    }
    let mut locked = BTreeSet::new();
    for (lookup, keys) in tables.into_values() {
        let (keys, positions): (Vec<Vec<String>>, Vec<Vec<usize>>) = keys.into_iter().unzip();
        let found = engine.locked_keys(session, lookup, &keys)?;
        locked.extend(found.into_iter().filter_map(|key| positions.get(key)).flatten());
    }
    Ok(locked)
}

/// Adds to `waiting` each later change set that shares an idempotency record, a unique value or a record with one in `waiting`. Change sets
/// that share only balances or counters do not wait for each other, because balances and counters may change in any order.
pub(super) fn hold_followers(changes: &[&ChangeSet], waiting: &mut BTreeSet<usize>) {
    let mut held = TouchedKeys::default();
    for (place, change) in changes.iter().enumerate() {
        let touched = TouchedKeys::of(&[change]);
        if waiting.contains(&place) || held.overlaps(&touched) {
            waiting.insert(place);
            held.extend(touched);
        }
    }
}

/// Returns every row that a change set may lock.
fn rows(change: &ChangeSet) -> Vec<Row> {
    let touched = TouchedKeys::of(&[change]);
    let keys = touched.idempotency_records.iter().map(|name| row_of_idempotency_record(name));
    let values = touched.reservations.iter().map(|key| row_of_value(key));
    let records = touched.records.iter().filter_map(row_of_record);
    keys.chain(values).chain(records).chain(lock::rows(change)).collect()
}
