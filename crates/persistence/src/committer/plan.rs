//! What a batch writes: everything that was accepted, at most one row per key, so that it can be written set by set.

use std::collections::{BTreeMap, BTreeSet};

use cais_domain::block::Block;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::ledger::LedgerAccount;
use cais_domain::payment::CreditedPayment;
use cais_ports::{AuditRow, ChangeSet, ClaimChange, ClaimRef, NewClaim, NewDelivery, Reservation, ReservationKey};
use jiff::Timestamp;

use super::books::Blocks;
use super::record::{Record, RecordKey, Wish, wish};
use crate::rows::claim::Standing;
use crate::rows::event::Numbered;
use crate::rows::ledger::Entry;

/// A claim as it stands after the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClaimWrite<'a> {
    /// The claim and when it was made, when it is new.
    pub(crate) new: Option<(&'a NewClaim, Timestamp)>,
    /// The fence at which it must stand, when it is not.
    pub(crate) read: i64,
    /// What becomes of it.
    pub(crate) standing: Standing<'a>,
}

/// A record as it is after the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordWrite<'a> {
    /// The version at which it must stand; `None` when it is new.
    pub(crate) read: Option<i64>,
    /// The version that it gets.
    pub(crate) version: i64,
    /// Its content.
    pub(crate) record: Record<'a>,
}

/// A block as it is after the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockWrite {
    /// Whether there is a row for it.
    pub(crate) stored: bool,
    /// It; `None` when it ended.
    pub(crate) now: Option<Block>,
}

/// Everything that a batch writes, in key order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan<'a> {
    pub(crate) claims: BTreeMap<&'a ClaimRef, ClaimWrite<'a>>,
    pub(crate) unreserve: BTreeSet<&'a ReservationKey>,
    pub(crate) reserve: BTreeMap<&'a ReservationKey, &'a Reservation>,
    pub(crate) records: BTreeMap<RecordKey<'a>, RecordWrite<'a>>,
    pub(crate) payments: Vec<&'a CreditedPayment>,
    pub(crate) audits: Vec<&'a AuditRow>,
    pub(crate) blocks: BTreeMap<(AccountId, InfractionId), BlockWrite>,
    pub(crate) entries: Vec<Entry<'a>>,
    /// Balances that change without an entry: all of what was to be released was taken before.
    pub(crate) unmoved: BTreeSet<LedgerAccount>,
    pub(crate) events: Vec<Numbered<'a>>,
    pub(crate) deliveries: Vec<NewDelivery>,
}

impl<'a> Plan<'a> {
    /// Whether nothing is written.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds everything of a change set that was accepted but its entries, blocks and events.
    pub(crate) fn admit(&mut self, change: &'a ChangeSet) {
        if let Some(claim) = &change.claim {
            self.admit_claim(claim, change.at);
        }
        for reservation in &change.reserve {
            self.reserve.insert(&reservation.key, reservation);
        }
        for key in &change.unreserve {
            // One that this batch took was never in the store, unless another gave it back before.
            if self.reserve.remove(key).is_none() {
                self.unreserve.insert(key);
            }
        }
        for write in &change.writes {
            match wish(write) {
                Wish::New(record) => {
                    self.records.insert(record.key(), RecordWrite { read: None, version: 1, record });
                }
                Wish::Changed(record) => self.admit_change(record),
                Wish::Paid(payment) => self.payments.push(payment),
                Wish::Audited(row) => self.audits.push(row),
            }
        }
    }

    /// Adds what becomes of an account's blocks.
    pub(crate) fn admit_blocks(&mut self, account: AccountId, before: &Blocks, after: &Blocks) {
        for infraction in before.keys().chain(after.keys()) {
            let (was, is) = (before.get(infraction), after.get(infraction));
            if was != is {
                let new = BlockWrite { stored: was.is_some(), now: None };
                self.blocks.entry((account, *infraction)).or_insert(new).now = is.cloned();
            }
        }
    }

    fn admit_change(&mut self, record: Record<'a>) {
        let read = record.version();
        let version = read.saturating_add(1);
        self.records
            .entry(record.key())
            .and_modify(|write| {
                write.version = version;
                write.record = record;
            })
            .or_insert(RecordWrite { read: Some(read), version, record });
    }

    fn admit_claim(&mut self, change: &'a ClaimChange, at: Timestamp) {
        match change {
            ClaimChange::Take(new) => {
                let standing = Standing {
                    fence: 1,
                    lease_until: Some(new.lease_until),
                    due_at: new.answer.is_none().then_some(new.lease_until),
                    answer: new.answer.as_ref(),
                };
                self.claims.insert(&new.name, ClaimWrite { new: Some((new, at)), read: 0, standing });
            }
            ClaimChange::Retake { name, fence, lease_until } => {
                let (lease, due_at) = (Some(*lease_until), Some(*lease_until));
                self.change_claim(
                    name,
                    *fence,
                    Standing { fence: fence.saturating_add(1), lease_until: lease, due_at, answer: None },
                );
            }
            ClaimChange::Answer { name, fence, answer } => {
                self.change_claim(
                    name,
                    *fence,
                    Standing { fence: *fence, lease_until: None, due_at: None, answer: Some(answer) },
                );
            }
            ClaimChange::Release { name, fence, due_at } => {
                self.change_claim(
                    name,
                    *fence,
                    Standing { fence: *fence, lease_until: Some(at), due_at: *due_at, answer: None },
                );
            }
        }
    }

    fn change_claim(&mut self, name: &'a ClaimRef, read: i64, standing: Standing<'a>) {
        self.claims
            .entry(name)
            .and_modify(|write| {
                let lease_until = standing.lease_until.or(write.standing.lease_until);
                write.standing = Standing { lease_until, ..standing };
            })
            .or_insert(ClaimWrite { new: None, read, standing });
    }
}
