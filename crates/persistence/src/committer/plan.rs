//! The writes of a batch: at most one row per key, so that one statement can write all rows of a kind.

use std::collections::{BTreeMap, BTreeSet};

use cais_commit_rules::{Balance, BlockWrite, Effects, Entry, NumberedEvent, Snapshot, judge};
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::ledger::LedgerAccount;
use cais_ports::{
    AnyRecord, ChangeSet, CommitError, Committed, IdGenerator, IdempotencyChange, IdempotencyRef, NewDelivery,
    NewIdempotencyRecord, RecordKey, Reservation, ReservationKey,
};
use jiff::Timestamp;

use crate::rows::idempotency::Standing;

/// An idempotency record after the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdempotencyWrite<'a> {
    /// The record and its instant of creation, if it is new.
    pub(crate) new: Option<(&'a NewIdempotencyRecord, Timestamp)>,
    /// The fence that the stored record must have, if it is not new.
    pub(crate) read: i64,
    /// The lease, its fence, and the stored answer after the batch.
    pub(crate) standing: Standing<'a>,
}

/// A record after the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordWrite<'a> {
    /// The version that the stored record must have; `None` if the record is new.
    pub(crate) read: Option<i64>,
    /// The version afterwards.
    pub(crate) version: i64,
    /// The content that the last write of the batch gives to the record.
    pub(crate) record: &'a AnyRecord,
}

/// The writes of all accepted change sets of a batch. The maps and sets are in key order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchPlan<'a> {
    pub(crate) idempotency_records: BTreeMap<&'a IdempotencyRef, IdempotencyWrite<'a>>,
    pub(crate) unreserve: BTreeSet<&'a ReservationKey>,
    pub(crate) reserve: BTreeMap<&'a ReservationKey, &'a Reservation>,
    pub(crate) records: BTreeMap<RecordKey, RecordWrite<'a>>,
    pub(crate) blocks: BTreeMap<(AccountId, InfractionId), BlockWrite>,
    pub(crate) entries: Vec<Entry<'a>>,
    pub(crate) balances: BTreeMap<LedgerAccount, Balance>,
    pub(crate) events: Vec<NumberedEvent<'a>>,
    pub(crate) deliveries: Vec<NewDelivery>,
}

impl<'a> BatchPlan<'a> {
    /// Judges change sets in order. Returns one verdict for each, and the writes of the accepted ones.
    pub(crate) fn judge(
        changes: &[&'a ChangeSet],
        mut snapshot: Snapshot,
        ids: &dyn IdGenerator,
    ) -> (Vec<Result<Committed, CommitError>>, Self) {
        let mut plan = Self::default();
        let verdicts = changes.iter().map(|change| {
            let effects = judge(&mut snapshot, change, ids)?;
            let committed = effects.committed();
            plan.add(change, effects);
            Ok(committed)
        });
        (verdicts.collect(), plan)
    }

    /// Returns whether nothing is written.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, change: &'a ChangeSet, effects: Effects<'a>) {
        if let Some(idempotency) = &change.idempotency {
            self.add_idempotency(idempotency, change.at);
        }
        for reservation in &change.reserve {
            self.reserve.insert(&reservation.key, reservation);
        }
        for key in &change.unreserve {
            // A value that this batch reserved has no stored row, unless an earlier change set of the batch freed the value. Then the value
            // is in `unreserve` already.
            if self.reserve.remove(key).is_none() {
                self.unreserve.insert(key);
            }
        }
        for write in &change.writes {
            let (read, version, record) = (write.read(), write.version(), write.record());
            let row = self.records.entry(write.key()).or_insert(RecordWrite { read, version, record });
            (row.version, row.record) = (version, record);
        }
        self.entries.extend(effects.entries);
        self.balances.extend(effects.balances);
        for (key, write) in effects.blocks {
            let first = BlockWrite { stored: write.stored, now: None };
            self.blocks.entry(key).or_insert(first).now = write.now;
        }
        self.events.extend(effects.events);
        self.deliveries.extend(effects.deliveries);
    }

    fn add_idempotency(&mut self, change: &'a IdempotencyChange, at: Timestamp) {
        match change {
            IdempotencyChange::Take(new) => {
                let standing = Standing {
                    fence: 1,
                    lease_until: Some(new.lease_until),
                    due_at: new.answer.is_none().then_some(new.lease_until),
                    answer: new.answer.as_ref(),
                };
                self.idempotency_records
                    .insert(&new.name, IdempotencyWrite { new: Some((new, at)), read: 0, standing });
            }
            IdempotencyChange::Retake { name, fence, lease_until } => {
                let (lease, due_at) = (Some(*lease_until), Some(*lease_until));
                self.change_idempotency_record(
                    name,
                    *fence,
                    Standing { fence: fence.saturating_add(1), lease_until: lease, due_at, answer: None },
                );
            }
            IdempotencyChange::Answer { name, fence, answer } => {
                self.change_idempotency_record(
                    name,
                    *fence,
                    Standing { fence: *fence, lease_until: None, due_at: None, answer: Some(answer) },
                );
            }
            IdempotencyChange::Release { name, fence, due_at } => {
                self.change_idempotency_record(
                    name,
                    *fence,
                    Standing { fence: *fence, lease_until: Some(at), due_at: *due_at, answer: None },
                );
            }
        }
    }

    fn change_idempotency_record(&mut self, name: &'a IdempotencyRef, read: i64, standing: Standing<'a>) {
        self.idempotency_records
            .entry(name)
            .and_modify(|write| {
                let lease_until = standing.lease_until.or(write.standing.lease_until);
                write.standing = Standing { lease_until, ..standing };
            })
            .or_insert(IdempotencyWrite { new: None, read, standing });
    }
}
