//! The content of the store in memory, and the application of change sets to it.

use std::collections::BTreeMap;

use cais_commit_rules::{NumberedEvent, Snapshot, judge};
use cais_domain::block::Block;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, DeliveryId, EndpointId, EntryId, Id, IdKind, InfractionId, RequestId};
use cais_domain::infraction::Infraction;
use cais_domain::ledger::{EntryKind, LedgerAccount};
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::merchant::webhook::Endpoint;
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::refund::RefundStatus;
use cais_ports::{
    AnyRecord, ChangeSet, CommitError, Committed, EndpointQueue, IdGenerator, IdempotencyRecord, KeyUse,
    LedgerCheckResult, LoggedRequest, NewEvent, RecordKey, Write,
};
use jiff::Timestamp;
use uuid::Uuid;

use super::deliveries::Row;
use super::tables::Tables;
use crate::builders::fresh;

/// An entry: one side of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The entry's identifier, greater than those of all earlier entries.
    pub id: EntryId,
    /// The ledger account.
    pub account: LedgerAccount,
    /// The amount; a debit is negative.
    pub amount: Money,
    /// The balance of the ledger account after the entry.
    pub balance_after: Money,
    /// The kind of the transfer.
    pub kind: EntryKind,
    /// The public id of the resource that caused the entry.
    pub resource: Option<String>,
    /// The end-to-end id of the Pix that caused the entry.
    pub end_to_end_id: Option<EndToEndId>,
    /// The instant of the change set.
    pub at: Timestamp,
}

impl Entry {
    fn of(entry: &cais_commit_rules::Entry<'_>) -> Self {
        Self {
            id: entry.id,
            account: entry.account().clone(),
            amount: entry.amount,
            balance_after: entry.balance_after,
            kind: entry.transfer.kind,
            resource: entry.transfer.resource.clone(),
            end_to_end_id: entry.transfer.end_to_end_id.clone(),
            at: entry.at,
        }
    }
}

/// An event with its sequence number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The number of the event within its account; 1 for the first.
    pub sequence: i64,
    /// The event.
    pub event: NewEvent,
}

impl StoredEvent {
    /// Returns the event as the queries of events return it.
    #[must_use]
    pub fn read(&self) -> cais_ports::StoredEvent {
        let NewEvent { id, kind, at, data, .. } = self.event.clone();
        cais_ports::StoredEvent { id, sequence: self.sequence, kind, data, created_at: at }
    }
}

/// The content of the store. The snapshot has idempotency records, unique values, versions, balances, blocks, counters
/// and endpoints. The tables have the other records.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) snapshot: Snapshot,
    pub(super) tables: Tables,
    pub(super) entries: Vec<Entry>,
    pub(super) events: BTreeMap<AccountId, Vec<StoredEvent>>,
    pub(super) deliveries: BTreeMap<DeliveryId, Row>,
    /// The instants since which endpoints have failed, by endpoint and epoch.
    pub(super) failing: BTreeMap<(EndpointId, i64), Timestamp>,
    /// The last use of each API key.
    pub(super) key_uses: BTreeMap<KeyPrefix, KeyUse>,
    /// The logged requests.
    pub(super) requests: BTreeMap<(AccountId, RequestId), LoggedRequest>,
    /// The results of ledger checks.
    pub(super) ledger_checks: BTreeMap<Timestamp, LedgerCheckResult>,
}

impl State {
    pub(super) fn balance(&self, account: &LedgerAccount) -> Money {
        self.snapshot.ledger.balances.get(account).map(|balance| balance.amount).unwrap_or_default()
    }

    /// Returns the idempotency records, by account and key.
    pub(super) fn idempotency_records(&self) -> impl Iterator<Item = &IdempotencyRecord> {
        self.snapshot.keys.idempotency_records.values()
    }

    /// Returns all blocks, by account and infraction.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.snapshot.ledger.blocks.values().flat_map(BTreeMap::values)
    }

    pub(super) fn block(&self, account: AccountId, infraction: InfractionId) -> Option<&Block> {
        self.snapshot.ledger.blocks.get(&account)?.get(&infraction)
    }

    pub(super) fn infraction(&self, id: InfractionId) -> Option<&Infraction> {
        self.tables.infractions.values().find(|infraction| infraction.id == id)
    }

    /// Returns the endpoints of the account, oldest first.
    pub(super) fn endpoints_of(&self, account: AccountId) -> impl DoubleEndedIterator<Item = &Endpoint> {
        self.snapshot.ledger.endpoints.get(&account).into_iter().flat_map(BTreeMap::values)
    }

    pub(super) fn endpoint(&self, account: AccountId, id: EndpointId) -> Option<&Endpoint> {
        self.snapshot.ledger.endpoints.get(&account)?.get(&id)
    }

    /// Returns the record with this key.
    pub(super) fn record(&self, key: &RecordKey) -> Option<AnyRecord> {
        if let RecordKey::Endpoint { account, id } = key {
            return self.endpoint(*account, *id).cloned().map(AnyRecord::from);
        }
        if let RecordKey::Payment { .. } = key {
            return self.tables.payments.get(key).map(|payment| self.with_refunds(payment).into());
        }
        self.tables.find(key)
    }

    /// Returns the payment with `refunded_beyond`: the part of its completed and open refunds that does not count as a refund
    /// of the charge.
    pub(super) fn with_refunds(&self, payment: &CreditedPayment) -> CreditedPayment {
        let own = self.tables.refunds.values().filter(|refund| {
            refund.account == payment.account && refund.end_to_end_id == payment.payment.end_to_end_id
        });
        let live = own.filter(|refund| match refund.state.status() {
            RefundStatus::Pending | RefundStatus::Processing | RefundStatus::Completed => true,
            RefundStatus::Abandoned | RefundStatus::Failed => false,
        });
        let refunded_beyond = Money::sum(live.map(|refund| refund.beyond().unwrap_or_default())).unwrap_or_default();
        CreditedPayment { refunded_beyond, ..payment.clone() }
    }

    /// Returns the last sequence number of the account's events; 0 before the first.
    pub(super) fn last_sequence(&self, account: AccountId) -> i64 {
        self.snapshot.ledger.sequences.get(&account).copied().unwrap_or(0)
    }

    /// Judges the change set and stores it with its effects. Returns the queues of new deliveries as well.
    pub(super) fn commit(&mut self, change: ChangeSet) -> Result<(Committed, Vec<EndpointQueue>), CommitError> {
        self.snapshot.open(&change);
        if change.writes.iter().any(|write| self.has_key_id(write)) {
            // If another check fails too, the commit returns the error of that check.
            judge(&mut self.snapshot.clone(), &change, &StoreIds)?;
            return Err(CommitError::Corrupt("the id of a key exists".to_owned()));
        }
        let effects = judge(&mut self.snapshot, &change, &StoreIds)?;
        let (committed, queues) = (effects.committed(), effects.deliveries.iter().map(|new| new.queue).collect());
        self.entries.extend(effects.entries.iter().map(Entry::of));
        for NumberedEvent { event, sequence } in effects.events {
            self.events.entry(event.account).or_default().push(StoredEvent { sequence, event: event.into_owned() });
        }
        self.deliveries.extend(effects.deliveries.iter().map(|new| (new.id, Row::new(new))));
        for write in change.writes {
            self.tables.write(write);
        }
        Ok((committed, queues))
    }

    /// Returns whether the write inserts an API key with the id of another one.
    fn has_key_id(&self, write: &Write) -> bool {
        let Write::Insert(AnyRecord::Key(new)) = write else { return false };
        self.tables.keys.values().any(|key| key.id == new.id)
    }
}

/// Identifiers that the store itself creates.
struct StoreIds;

impl IdGenerator for StoreIds {
    fn next_uuid(&self) -> Uuid {
        next_id::<cais_domain::ids::kind::Entry>().uuid()
    }
}

/// Returns an id that is greater than every earlier id. No generator `SequentialIds` returns the same id: the number in the id is one
/// higher than the number that belongs to the timestamp.
pub(super) fn next_id<K: IdKind>() -> Id<K> {
    Id::new(Uuid::from_u128(fresh::<K>().uuid().as_u128().saturating_add(1)))
}
