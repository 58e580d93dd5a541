//! Idempotency records, unique values and versions.

use std::collections::{BTreeMap, HashMap};

use cais_ports::{
    ChangeSet, CommitError, IdempotencyChange, IdempotencyRecord, IdempotencyRef, RecordKey, ReservationKey,
};
use jiff::Timestamp;

/// The stored idempotency records, unique values and record versions that change sets touch. A key that is missing here
/// is not stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySnapshot {
    /// The idempotency records.
    pub idempotency_records: BTreeMap<IdempotencyRef, IdempotencyRecord>,
    /// The owner of each unique value.
    pub owners: HashMap<ReservationKey, String>,
    /// The version of each record. A record that never changes has version 1. A store need not load the version of such
    /// a record, because the unique key of the table refuses a second insert.
    pub versions: HashMap<RecordKey, i64>,
}

impl KeySnapshot {
    /// Checks the idempotency record, then the reservations in order, then the versions in order.
    pub(crate) fn check(&self, change: &ChangeSet) -> Result<(), CommitError> {
        self.check_idempotency_record(change)?;
        self.check_reservations(change)?;
        self.check_versions(change)
    }

    fn check_idempotency_record(&self, change: &ChangeSet) -> Result<(), CommitError> {
        let Some(requested) = &change.idempotency else { return Ok(()) };
        let found = self.idempotency_records.get(requested.name());
        let held = match requested {
            IdempotencyChange::Take(_) => None,
            IdempotencyChange::Retake { fence, .. }
            | IdempotencyChange::Answer { fence, .. }
            | IdempotencyChange::Release { fence, .. } => Some(*fence),
        };
        match (found, held) {
            (None, None) => Ok(()),
            (Some(record), Some(fence)) if record.answer.is_none() && record.fence == fence => Ok(()),
            (Some(record), _) => Err(CommitError::KeyInUse { record: Box::new(record.clone()) }),
            // Housekeeping removes an idempotency record a month after its creation. So the record can be missing only
            // if a repeat reads the month-old record just before the removal.
            (None, Some(_)) => {
                Err(CommitError::Corrupt(format!("the idempotency record of {} is missing", requested.name().account)))
            }
        }
    }

    fn check_reservations(&self, change: &ChangeSet) -> Result<(), CommitError> {
        let mut own: HashMap<&ReservationKey, &str> = HashMap::new();
        for reservation in &change.reserve {
            let key = &reservation.key;
            let owner = self.owners.get(key).map(String::as_str).or_else(|| own.get(key).copied());
            if let Some(owner) = owner {
                return Err(CommitError::Taken { key: key.clone(), by: owner.to_owned() });
            }
            own.insert(key, &reservation.owner);
        }
        Ok(())
    }

    fn check_versions(&self, change: &ChangeSet) -> Result<(), CommitError> {
        let mut own: HashMap<RecordKey, i64> = HashMap::new();
        for write in &change.writes {
            let (key, read) = (write.key(), write.read());
            let found = own.get(&key).or_else(|| self.versions.get(&key)).copied();
            match read {
                None if found.is_some() => return Err(CommitError::Exists(key)),
                Some(_) if found != read => return Err(CommitError::Stale),
                None | Some(_) => own.insert(key, write.version()),
            };
        }
        Ok(())
    }

    pub(crate) fn apply(&mut self, change: &ChangeSet) {
        if let Some(requested) = &change.idempotency {
            self.apply_idempotency_record(requested, change.at);
        }
        for reservation in &change.reserve {
            self.owners.insert(reservation.key.clone(), reservation.owner.clone());
        }
        for key in &change.unreserve {
            self.owners.remove(key);
        }
        self.versions.extend(change.writes.iter().map(|write| (write.key(), write.version())));
    }

    fn apply_idempotency_record(&mut self, requested: &IdempotencyChange, at: Timestamp) {
        if let IdempotencyChange::Take(new) = requested {
            let record = IdempotencyRecord {
                name: new.name.clone(),
                fingerprint: new.fingerprint,
                resource: new.resource.clone(),
                fence: 1,
                lease_until: new.lease_until,
                due_at: new.answer.is_none().then_some(new.lease_until),
                answer: new.answer.clone(),
                created_at: at,
            };
            self.idempotency_records.insert(new.name.clone(), record);
            return;
        }
        let Some(record) = self.idempotency_records.get_mut(requested.name()) else { return };
        match requested {
            IdempotencyChange::Take(_) => {}
            IdempotencyChange::Retake { fence, lease_until, .. } => {
                record.fence = fence.saturating_add(1);
                record.lease_until = *lease_until;
                record.due_at = Some(*lease_until);
            }
            IdempotencyChange::Answer { answer, .. } => {
                record.answer = Some(answer.clone());
                record.due_at = None;
            }
            IdempotencyChange::Release { due_at, .. } => {
                record.lease_until = at;
                record.due_at = *due_at;
            }
        }
    }
}
