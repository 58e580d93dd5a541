//! A slow model of a store. Every fact is recomputed from the list of accepted change sets and the money that they moved. The model shares
//! no rule with the judge: neither `cais_commit_rules` nor `cais_domain::block` computes anything here.

use std::collections::{BTreeMap, BTreeSet};

use cais_domain::block::{Block, BlockChange, BlockEnd};
use cais_domain::ids::{DeliveryId, EndpointId, InfractionId};
use cais_domain::merchant::webhook::{Endpoint, EndpointState};
use cais_ports::{
    AnyRecord, EndpointQueue, IdempotencyChange, IdempotencyRecord, IdempotencyRef, NewDelivery, NewEvent, RecordKey,
    ReservationKey, Write,
};
use uuid::Uuid;

use super::*;

/// Money that moved. A release after seizures moves less than the amount of its transfer.
#[derive(Debug, Clone)]
pub(super) struct Move {
    pub(super) transfer: Transfer,
    pub(super) moved: i64,
}

/// The history of a store.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    accepted: Vec<ChangeSet>,
    pub(super) moves: Vec<Move>,
    block_changes: Vec<BlockChange>,
}

impl Model {
    /// Returns the history with the change set, or the refusal. The text of `Corrupt` stays empty.
    pub(super) fn commit(&self, change: &ChangeSet) -> Result<Self, CommitError> {
        self.check_keys(change)?;
        let mut after = self.clone();
        for transfer in &change.transfers {
            after.post(transfer, self)?;
        }
        for block in &change.blocks {
            after.change_block(block)?;
        }
        let holders: BTreeSet<AccountId> = after.blocks().into_keys().map(|(account, _)| account).collect();
        for account in holders {
            after.top_up(account);
        }
        after.accepted.push(change.clone());
        Ok(after)
    }

    /// Checks the idempotency record, the unique values and the versions.
    pub(super) fn check_keys(&self, change: &ChangeSet) -> Result<(), CommitError> {
        if let Some(requested) = &change.idempotency {
            let (record, fence) = (self.idempotency_record(requested.name()), fence(requested));
            let is_held = record.as_ref().is_some_and(|record| record.answer.is_none() && Some(record.fence) == fence);
            match record {
                None if fence.is_some() => return Err(corrupt()),
                Some(record) if !is_held => return Err(CommitError::KeyInUse { record: Box::new(record) }),
                None | Some(_) => {}
            }
        }
        for (place, reservation) in change.reserve.iter().enumerate() {
            let before = change.reserve.iter().take(place).find(|earlier| earlier.key == reservation.key);
            if let Some(by) = self.owner(&reservation.key).or_else(|| before.map(|earlier| earlier.owner.clone())) {
                return Err(CommitError::Taken { key: reservation.key.clone(), by });
            }
        }
        for (place, write) in change.writes.iter().enumerate() {
            let (key, read) = target(write);
            let version = self.version(&key) + count_writes(change.writes.iter().take(place), &key);
            match read {
                None if version > 0 => return Err(CommitError::Exists(key)),
                Some(read) if version == 0 || version != read => return Err(CommitError::Stale),
                None | Some(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the idempotency record of a key.
    pub(super) fn idempotency_record(&self, name: &IdempotencyRef) -> Option<IdempotencyRecord> {
        let of_key = |change: &&ChangeSet| change.idempotency.as_ref().is_some_and(|record| record.name() == name);
        let mut history = self.accepted.iter().filter(of_key);
        let first = history.next()?;
        let Some(IdempotencyChange::Take(new)) = first.idempotency.clone() else { return None };
        let due_at = if new.answer.is_none() { Some(new.lease_until) } else { None };
        let (lease_until, answer, created_at) = (new.lease_until, new.answer, first.at);
        let (fingerprint, resource) = (new.fingerprint, new.resource);
        let name = new.name;
        let mut record =
            IdempotencyRecord { name, fingerprint, resource, fence: 1, lease_until, due_at, answer, created_at };
        for change in history {
            match change.idempotency.clone()? {
                IdempotencyChange::Take(_) => return None,
                IdempotencyChange::Retake { lease_until, .. } => {
                    record.fence += 1;
                    (record.lease_until, record.due_at) = (lease_until, Some(lease_until));
                }
                IdempotencyChange::Answer { answer, .. } => (record.answer, record.due_at) = (Some(answer), None),
                IdempotencyChange::Release { due_at, .. } => (record.lease_until, record.due_at) = (change.at, due_at),
            }
        }
        Some(record)
    }

    /// Returns the owner of a unique value.
    pub(super) fn owner(&self, key: &ReservationKey) -> Option<String> {
        let last = self.accepted.iter().rev().find(|change| {
            change.unreserve.contains(key) || change.reserve.iter().any(|reserved| reserved.key == *key)
        })?;
        let reserved = last.reserve.iter().find(|reserved| reserved.key == *key);
        reserved.filter(|_| !last.unreserve.contains(key)).map(|reserved| reserved.owner.clone())
    }

    /// Returns every write, in order.
    pub(super) fn writes(&self) -> impl Iterator<Item = &Write> {
        self.accepted.iter().flat_map(|change| &change.writes)
    }

    /// Returns the number of times that a record was written.
    pub(super) fn version(&self, key: &RecordKey) -> i64 {
        count_writes(self.writes(), key)
    }

    /// Returns the sum of everything that moved to a ledger account and away from it.
    pub(super) fn balance(&self, account: &LedgerAccount) -> i64 {
        let credits: i64 = self.moves.iter().filter(|one| one.transfer.to == *account).map(|one| one.moved).sum();
        let debits: i64 = self.moves.iter().filter(|one| one.transfer.from == *account).map(|one| one.moved).sum();
        credits - debits
    }

    /// Returns the number of legs of a ledger account.
    pub(super) fn entries(&self, account: &LedgerAccount) -> usize {
        let legs = self.moves.iter().filter(|one| one.moved > 0).map(|one| &one.transfer);
        legs.flat_map(|transfer| [&transfer.from, &transfer.to]).filter(|leg| *leg == account).count()
    }

    /// Returns the amount that blocks seized from `pending` and that was later neither freed nor subtracted from a release.
    pub(super) fn seized(&self, account: AccountId) -> i64 {
        let pending = merchant(account, Bucket::Pending);
        let mut seized = 0;
        for Move { transfer, moved } in &self.moves {
            if transfer.from == pending && transfer.kind == EntryKind::Infraction {
                seized += moved;
            } else if transfer.from == pending && transfer.kind == EntryKind::Release {
                seized -= transfer.amount.centavos() - moved;
            } else if transfer.to == pending && transfer.kind == EntryKind::InfractionReleased {
                seized -= moved;
            }
        }
        seized
    }

    /// Returns every block, the oldest infraction of an account first.
    pub(super) fn blocks(&self) -> BTreeMap<(AccountId, InfractionId), Block> {
        let mut blocks = BTreeMap::new();
        for change in &self.block_changes {
            let key = (change.account(), change.infraction());
            match change.clone() {
                BlockChange::Hold { account, infraction, end_to_end_id, limit } => {
                    let held = Money::from_centavos(self.held(account, infraction));
                    let new = Block { account, infraction, end_to_end_id, limit, held };
                    blocks.entry(key).or_insert(new).limit = limit;
                }
                BlockChange::End { .. } => drop(blocks.remove(&key)),
            }
        }
        blocks
    }

    fn held(&self, account: AccountId, infraction: InfractionId) -> i64 {
        let (blocked, name) = (merchant(account, Bucket::Blocked), infraction.to_string());
        let own = self.moves.iter().filter(|one| one.transfer.resource.as_ref() == Some(&name));
        own.map(|one| if one.transfer.to == blocked { one.moved } else { -one.moved }).sum()
    }

    /// Returns the number of events of an account.
    pub(super) fn events(&self, account: AccountId) -> i64 {
        count_events(self.accepted.iter().flat_map(|change| &change.events), account)
    }

    /// Returns every endpoint after its last write, with the slot and the instant of creation of its first write.
    pub(super) fn endpoints(&self) -> BTreeMap<EndpointId, Endpoint> {
        let mut endpoints: BTreeMap<EndpointId, Endpoint> = BTreeMap::new();
        for write in self.writes() {
            if let AnyRecord::Endpoint(written) = write.record() {
                let first = endpoints.get(&written.id).unwrap_or(written);
                let (slot, created_at) = (first.slot, first.created_at);
                let version = self.version(&target(write).0);
                endpoints.insert(written.id, Endpoint { slot, created_at, version, ..(**written).clone() });
            }
        }
        endpoints
    }

    /// Returns the deliveries of the last change set, in the order of events and endpoints, with the nil id.
    pub(super) fn deliveries(&self) -> Vec<NewDelivery> {
        let Some(change) = self.accepted.last() else { return Vec::new() };
        let mut deliveries = Vec::new();
        for (event, sequence) in change.events.iter().zip(self.sequences()) {
            for endpoint in self.endpoints().into_values().filter(|endpoint| receives(endpoint, event)) {
                let queue = EndpointQueue { account: event.account, endpoint: endpoint.id, epoch: endpoint.epoch };
                let (id, event, kind) = (DeliveryId::new(Uuid::nil()), event.id, event.kind);
                deliveries.push(NewDelivery { id, queue, event, kind, sequence: Some(sequence), at: change.at });
            }
        }
        deliveries
    }

    /// Returns the sequence numbers of the last change set's events: the number of events of the account up to each.
    pub(super) fn sequences(&self) -> Vec<i64> {
        let (mut events, mut sequences) = (Vec::new(), Vec::new());
        for change in &self.accepted {
            sequences.clear();
            for event in &change.events {
                events.push(event);
                sequences.push(count_events(events.iter().copied(), event.account));
            }
        }
        sequences
    }

    /// Moves money. `before` is the history without the change set.
    fn post(&mut self, transfer: &Transfer, before: &Self) -> Result<(), CommitError> {
        let amount = transfer.amount.centavos();
        if amount <= 0 {
            return Err(corrupt());
        }
        let moved = match transfer.from {
            LedgerAccount::Merchant(account, Bucket::Pending) if transfer.kind == EntryKind::Release => {
                (amount - self.seized(account)).max(0)
            }
            LedgerAccount::Merchant(..) | LedgerAccount::System(..) => amount,
        };
        if moved > 0 && transfer.overdraft == Overdraft::Forbidden && moved > self.balance(&transfer.from) {
            let available = Money::from_centavos(before.balance(&transfer.from));
            return Err(CommitError::NotCovered { account: transfer.from.clone(), available });
        }
        self.moves.push(Move { transfer: transfer.clone(), moved });
        Ok(())
    }

    fn change_block(&mut self, change: &BlockChange) -> Result<(), CommitError> {
        let block = self.blocks().remove(&(change.account(), change.infraction()));
        let held = block.as_ref().map_or(0, |block| block.held.centavos());
        self.block_changes.push(change.clone());
        match (change, block) {
            (BlockChange::Hold { limit, .. }, _) if limit.centavos() < 0 => return Err(corrupt()),
            (BlockChange::Hold { limit, .. }, Some(block)) => self.free(&block, held - limit.centavos()),
            (BlockChange::Hold { .. }, None) => {}
            (BlockChange::End { held: read, to, .. }, Some(block)) if read.centavos() == held => match to {
                BlockEnd::Released => self.free(&block, held),
                BlockEnd::Returned(to) => {
                    self.move_part(&block, Bucket::Blocked, to, held, EntryKind::InfractionReturned);
                }
            },
            (BlockChange::End { .. }, _) => return Err(CommitError::Stale),
        }
        Ok(())
    }

    /// Moves an amount out of a block: to `pending` up to the amount seized from there, and the rest to `available`.
    fn free(&mut self, block: &Block, amount: i64) {
        let to_pending = self.seized(block.account).min(amount);
        for (bucket, part) in [(Bucket::Pending, to_pending), (Bucket::Available, amount - to_pending)] {
            let to = merchant(block.account, bucket);
            self.move_part(block, Bucket::Blocked, &to, part, EntryKind::InfractionReleased);
        }
    }

    /// Fills blocks from `available`, then from `pending`; in both passes the oldest infraction comes first.
    fn top_up(&mut self, account: AccountId) {
        let blocked = merchant(account, Bucket::Blocked);
        for bucket in [Bucket::Available, Bucket::Pending] {
            for block in self.blocks().into_values().filter(|block| block.account == account) {
                let missing = block.limit.centavos() - block.held.centavos();
                let part = missing.min(self.balance(&merchant(account, bucket)));
                self.move_part(&block, bucket, &blocked, part, EntryKind::Infraction);
            }
        }
    }

    /// Moves a part of a block, if there is any.
    fn move_part(&mut self, block: &Block, from: Bucket, to: &LedgerAccount, part: i64, kind: EntryKind) {
        if part > 0 {
            let (from, to, amount) = (merchant(block.account, from), to.clone(), Money::from_centavos(part));
            let (resource, end_to_end_id) = (Some(block.infraction.to_string()), Some(block.end_to_end_id.clone()));
            let overdraft = Overdraft::Forbidden;
            let transfer = Transfer { from, to, amount, overdraft, kind, resource, end_to_end_id };
            self.moves.push(Move { transfer, moved: part });
        }
    }
}

/// Returns whether the event is delivered to an endpoint that is active or inactive, and that subscribes to the type or is named.
fn receives(endpoint: &Endpoint, event: &NewEvent) -> bool {
    let is_kept = matches!(endpoint.state, EndpointState::Active | EndpointState::Inactive);
    let is_named =
        event.postback.as_ref().is_some_and(|named| named.endpoint == endpoint.id || named.url == endpoint.url);
    endpoint.account == event.account && is_kept && (is_named || endpoint.subscription.includes(event.kind))
}

/// Returns the record that a write is about, and the version that an update is based on. Steps write only charges and endpoints.
pub(super) fn target(write: &Write) -> (RecordKey, Option<i64>) {
    let (key, version) = if let AnyRecord::Charge(one) = write.record() {
        (RecordKey::Charge { account: one.account, id: one.id }, one.version)
    } else if let AnyRecord::Endpoint(one) = write.record() {
        (RecordKey::Endpoint { account: one.account, id: one.id }, one.version)
    } else {
        unreachable!("steps write only charges and endpoints")
    };
    (key, if matches!(write, Write::Insert(_)) { None } else { Some(version) })
}

fn count_writes<'a>(writes: impl Iterator<Item = &'a Write>, key: &RecordKey) -> i64 {
    i64::try_from(writes.filter(|write| target(write).0 == *key).count()).unwrap()
}

fn count_events<'a>(events: impl Iterator<Item = &'a NewEvent>, account: AccountId) -> i64 {
    i64::try_from(events.filter(|event| event.account == account).count()).unwrap()
}

const fn fence(change: &IdempotencyChange) -> Option<i64> {
    match change {
        IdempotencyChange::Take(_) => None,
        IdempotencyChange::Retake { fence, .. }
        | IdempotencyChange::Answer { fence, .. }
        | IdempotencyChange::Release { fence, .. } => Some(*fence),
    }
}

const fn corrupt() -> CommitError {
    CommitError::Corrupt(String::new())
}
