//! The judgement of a batch: pure, in memory, one change set after the other, exactly in the order that the port promises.
//!
//! It knows either what the store holds ([`Known::Store`]), or nothing but locked books ([`Known::Hope`]):
//! then every claim, reservation and version is taken to be as the change set expects it. That is only sound for a batch
//! that touches no key twice and that refuses nobody; the guarded writes find out whether the hope was right.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use cais_ports::{ChangeSet, Claim, ClaimChange, ClaimRef, CommitError, Committed, Ids, ReservationKey};

use super::books::Books;
use super::fan_out;
use super::plan::Plan;
use super::record::{RecordKey, Wish, wish};
use super::trial::{self, Moves};
use crate::rows::event::Numbered;
use crate::rows::ledger::Side;

/// What the store holds of the keys that a batch touches; what is missing here is not there.
#[derive(Debug, Default)]
pub(crate) struct Observed<'a> {
    /// The claims.
    pub(crate) claims: HashMap<&'a ClaimRef, Claim>,
    /// Who has each unique value.
    pub(crate) owners: HashMap<&'a ReservationKey, String>,
    /// At which version each record stands.
    pub(crate) versions: HashMap<RecordKey<'a>, i64>,
}

/// What is known before the judgement.
#[derive(Debug)]
pub(crate) enum Known<'a> {
    /// Nothing: see the module.
    Hope,
    /// What was read in the batch's own transaction.
    Store(Observed<'a>),
}

/// A judged batch.
#[derive(Debug)]
pub(crate) struct Judged<'a> {
    /// One verdict for each change set, in order.
    pub(crate) verdicts: Vec<Result<Committed, CommitError>>,
    /// What the accepted ones write.
    pub(crate) plan: Plan<'a>,
    /// Balances and counters after them.
    pub(crate) books: Books,
}

/// Judges change sets in order. Whom one refuses is as if it had never been there for those that follow.
pub(crate) fn judge<'a>(changes: &[&'a ChangeSet], known: Known<'a>, books: Books, ids: &dyn Ids) -> Judged<'a> {
    let mut judge = Judge { known, books, plan: Plan::default() };
    let verdicts = changes.iter().map(|change| judge.decide(change, ids)).collect();
    Judged { verdicts, plan: judge.plan, books: judge.books }
}

struct Judge<'a> {
    known: Known<'a>,
    books: Books,
    plan: Plan<'a>,
}

impl<'a> Judge<'a> {
    fn decide(&mut self, change: &'a ChangeSet, ids: &dyn Ids) -> Result<Committed, CommitError> {
        if let Known::Store(observed) = &self.known {
            observed.check_claim(change)?;
            observed.check_reservations(change)?;
            observed.check_versions(change)?;
        }
        let moves = trial::judge(&self.books, change)?;
        // Nothing refuses it any more: from here on it changes what the next ones see.
        if let Known::Store(observed) = &mut self.known {
            observed.apply(change);
        }
        self.plan.admit(change);
        let first_entry = self.plan.entries.len();
        for transfer in &change.transfers {
            self.books.post(Cow::Borrowed(transfer), change.at, ids, &mut self.plan)?;
        }
        self.follow(moves, change, ids)?;
        fan_out::learn(&mut self.books.endpoints, change);
        let mut sequences = Vec::with_capacity(change.events.len());
        for event in &change.events {
            let sequence = self.books.next_sequence(event.account)?;
            let hearing = fan_out::deliveries(&self.books.endpoints, event, sequence, change.at, ids);
            self.plan.deliveries.extend(hearing);
            let mut made = self.plan.entries.iter().skip(first_entry);
            let entry = made.find(|entry| entry.side == Side::To && event.is_of_credit(&entry.transfer));
            let body = match entry {
                Some(entry) => event.with_entry(entry.id).body(Some(sequence)),
                None => event.body(Some(sequence)),
            };
            self.plan.events.push(Numbered { event, sequence, body });
            sequences.push(sequence);
        }
        Ok(Committed { sequences })
    }

    /// What the store moves besides the transfers.
    fn follow(&mut self, moves: Moves, change: &ChangeSet, ids: &dyn Ids) -> Result<(), CommitError> {
        for transfer in moves.made {
            self.books.post(Cow::Owned(transfer), change.at, ids, &mut self.plan)?;
        }
        for (account, after) in moves.blocks {
            let before = self.books.blocks.insert(account, after.clone()).unwrap_or_default();
            self.plan.admit_blocks(account, &before, &after);
        }
        Ok(())
    }
}

impl<'a> Observed<'a> {
    fn check_claim(&self, change: &ChangeSet) -> Result<(), CommitError> {
        let Some(wanted) = &change.claim else { return Ok(()) };
        let standing = self.claims.get(wanted.name());
        let fence = match wanted {
            ClaimChange::Take(_) => {
                return standing.map_or(Ok(()), |claim| Err(CommitError::Claimed { claim: Box::new(claim.clone()) }));
            }
            ClaimChange::Retake { fence, .. }
            | ClaimChange::Answer { fence, .. }
            | ClaimChange::Release { fence, .. } => *fence,
        };
        match standing {
            Some(claim) if claim.answer.is_none() && claim.fence == fence => Ok(()),
            Some(claim) => Err(CommitError::Claimed { claim: Box::new(claim.clone()) }),
            // After a month those are removed that are answered or wait for their caller alone: whoever holds one finds it. Only a
            // repeat that comes so late, and at that moment, misses what it has just read.
            None => Err(CommitError::Corrupt(format!("the claim of {} is gone", wanted.name().account))),
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
        let mut own: HashMap<RecordKey<'_>, i64> = HashMap::new();
        for write in &change.writes {
            let record = match wish(write) {
                Wish::Paid(_) | Wish::Audited(_) => continue,
                Wish::New(record) => {
                    if own.insert(record.key(), 1).is_some() || self.versions.contains_key(&record.key()) {
                        return Err(CommitError::Corrupt(format!("{:?} exists", record.key())));
                    }
                    continue;
                }
                Wish::Changed(record) => record,
            };
            let standing = own.get(&record.key()).or_else(|| self.versions.get(&record.key()));
            if standing != Some(&record.version()) {
                return Err(CommitError::Stale);
            }
            own.insert(record.key(), record.version().saturating_add(1));
        }
        Ok(())
    }

    fn apply(&mut self, change: &'a ChangeSet) {
        if let Some(wanted) = &change.claim {
            self.apply_claim(wanted, change);
        }
        for reservation in &change.reserve {
            self.owners.insert(&reservation.key, reservation.owner.clone());
        }
        for key in &change.unreserve {
            self.owners.remove(key);
        }
        for write in &change.writes {
            match wish(write) {
                Wish::Paid(_) | Wish::Audited(_) => {}
                Wish::New(record) => {
                    self.versions.insert(record.key(), 1);
                }
                Wish::Changed(record) => {
                    self.versions.insert(record.key(), record.version().saturating_add(1));
                }
            }
        }
    }

    fn apply_claim(&mut self, wanted: &'a ClaimChange, change: &ChangeSet) {
        if let ClaimChange::Take(new) = wanted {
            let claim = Claim {
                name: new.name.clone(),
                fingerprint: new.fingerprint,
                resource: new.resource.clone(),
                fence: 1,
                lease_until: new.lease_until,
                due_at: new.answer.is_none().then_some(new.lease_until),
                answer: new.answer.clone(),
                created_at: change.at,
            };
            self.claims.insert(&new.name, claim);
            return;
        }
        let Some(claim) = self.claims.get_mut(wanted.name()) else { return };
        match wanted {
            ClaimChange::Take(_) => {}
            ClaimChange::Retake { fence, lease_until, .. } => {
                claim.fence = fence.saturating_add(1);
                claim.lease_until = *lease_until;
                claim.due_at = Some(*lease_until);
            }
            ClaimChange::Answer { answer, .. } => {
                claim.answer = Some(answer.clone());
                claim.due_at = None;
            }
            ClaimChange::Release { due_at, .. } => {
                claim.lease_until = change.at;
                claim.due_at = *due_at;
            }
        }
    }
}

/// The keys that a batch touches.
#[derive(Debug, Default)]
pub(crate) struct Touched<'a> {
    /// Claims that are taken or changed.
    pub(crate) claims: HashSet<&'a ClaimRef>,
    /// Unique values that are taken or given back.
    pub(crate) reservations: HashSet<&'a ReservationKey>,
    /// Records that are new or changed.
    pub(crate) records: HashSet<RecordKey<'a>>,
    /// Whether one of them is touched more than once.
    pub(crate) twice: bool,
}

impl<'a> Touched<'a> {
    /// The keys of these change sets.
    pub(crate) fn by(changes: &[&'a ChangeSet]) -> Self {
        let mut touched = Self::default();
        for change in changes {
            if let Some(claim) = &change.claim {
                touched.twice |= !touched.claims.insert(claim.name());
            }
            for key in change.reserve.iter().map(|reservation| &reservation.key).chain(&change.unreserve) {
                touched.twice |= !touched.reservations.insert(key);
            }
            for write in &change.writes {
                match wish(write) {
                    Wish::New(record) | Wish::Changed(record) => touched.twice |= !touched.records.insert(record.key()),
                    Wish::Paid(_) | Wish::Audited(_) => {}
                }
            }
        }
        touched
    }

    /// Whether the two have a key in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        !self.claims.is_disjoint(&other.claims)
            || !self.reservations.is_disjoint(&other.reservations)
            || !self.records.is_disjoint(&other.records)
    }

    /// Adds the keys of another.
    pub(crate) fn extend(&mut self, other: Self) {
        self.claims.extend(other.claims);
        self.reservations.extend(other.reservations);
        self.records.extend(other.records);
    }
}
