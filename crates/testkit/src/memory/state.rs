//! What the store in memory holds, and how a change set that was judged good becomes true.

use std::collections::BTreeMap;

use cais_domain::account::Account;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::block::Block;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::event::EventType;
use cais_domain::ids::{
    AccountId, AuditId, ChargeId, DeliveryId, EndpointId, EntryId, Id, IdKind, InfractionId, KeyId, NoticeId, PayoutId,
    RefundId,
};
use cais_domain::infraction::Infraction;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount};
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::{Refund, RefundStatus};
use cais_domain::release::Release;
use cais_domain::webhook::Endpoint;
use cais_ports::{
    ApiKeyRecord, AuditRow, ChangeSet, Claim, ClaimChange, ClaimRef, Committed, Lane, NewClaim, NewEvent, Notice,
    PollPosition, Reservation, ReservationKey, UpstreamList,
};
use jiff::Timestamp;

use super::books::{BlockKey, Moved};
use super::deliveries::Row;
use crate::builders::fresh;

/// One side of a transfer, as the statement shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its identifier, greater than those of all entries before it.
    pub id: EntryId,
    /// Whose balance moved.
    pub account: LedgerAccount,
    /// By how much; a debit is negative.
    pub amount: Money,
    /// The balance of the account after it.
    pub balance_after: Money,
    /// Why.
    pub kind: EntryKind,
    /// The public id of what caused it.
    pub resource: Option<String>,
    /// The Pix that moved it.
    pub end_to_end_id: Option<EndToEndId>,
    /// When.
    pub at: Timestamp,
}

/// An event with its place among the account's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// 1 for the account's first.
    pub sequence: i64,
    /// What consumers are told.
    pub event: NewEvent,
}

impl StoredEvent {
    /// What is sent of it.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        self.event.body(Some(self.sequence))
    }
}

/// Everything that is true.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) claims: BTreeMap<ClaimRef, Claim>,
    pub(super) reservations: BTreeMap<ReservationKey, Reservation>,
    pub(super) accounts: BTreeMap<AccountId, Account>,
    pub(super) keys: BTreeMap<KeyId, ApiKeyRecord>,
    pub(super) audit: BTreeMap<AuditId, AuditRow>,
    pub(super) charges: BTreeMap<ChargeId, Charge>,
    pub(super) payments: BTreeMap<EndToEndId, CreditedPayment>,
    pub(super) releases: BTreeMap<EndToEndId, Release>,
    pub(super) payouts: BTreeMap<PayoutId, Payout>,
    pub(super) refunds: BTreeMap<RefundId, Refund>,
    pub(super) notices: BTreeMap<NoticeId, Notice>,
    pub(super) endpoints: BTreeMap<EndpointId, Endpoint>,
    pub(super) infractions: BTreeMap<InfractionId, Infraction>,
    pub(super) positions: BTreeMap<(AcquirerName, UpstreamList), PollPosition>,
    pub(super) balances: BTreeMap<LedgerAccount, Money>,
    pub(super) entries: Vec<Entry>,
    pub(super) blocks: BTreeMap<BlockKey, Block>,
    /// How much of the account's `pending` was taken for infractions before its release.
    pub(super) taken: BTreeMap<AccountId, Money>,
    pub(super) events: BTreeMap<AccountId, Vec<StoredEvent>>,
    /// The last sequence number of each account, also when its events are gone.
    pub(super) sequences: BTreeMap<AccountId, i64>,
    pub(super) deliveries: BTreeMap<DeliveryId, Row>,
    /// Since when every attempt at an endpoint failed, in each of its epochs.
    pub(super) failing: BTreeMap<(EndpointId, i64), Timestamp>,
}

impl State {
    pub(super) fn balance(&self, account: &LedgerAccount) -> Money {
        self.balances.get(account).copied().unwrap_or_default()
    }

    /// The payment with the sum of what its refunds took, or are about to take, beyond its charge's amount.
    pub(super) fn with_refunds(&self, payment: &CreditedPayment) -> CreditedPayment {
        let own = self.refunds.values().filter(|refund| {
            refund.account == payment.account && refund.end_to_end_id == payment.payment.end_to_end_id
        });
        let live = own.filter(|refund| match refund.state.status() {
            RefundStatus::Pending | RefundStatus::Processing | RefundStatus::Completed => true,
            RefundStatus::Abandoned | RefundStatus::Failed => false,
        });
        let refunded_beyond = Money::sum(live.map(|refund| refund.beyond().unwrap_or_default())).unwrap_or_default();
        CreditedPayment { refunded_beyond, ..payment.clone() }
    }

    /// The last sequence number of the account's events; 0 before the first.
    pub(super) fn last_sequence(&self, account: AccountId) -> i64 {
        self.sequences.get(&account).copied().unwrap_or(0)
    }

    pub(super) fn taken(&self, account: AccountId) -> Money {
        self.taken.get(&account).copied().unwrap_or_default()
    }

    /// Makes it true; `moved` is its money as it was judged. The lanes of the deliveries that come into being come back as well.
    pub(super) fn apply(&mut self, change: ChangeSet, moved: Moved) -> (Committed, Vec<Lane>) {
        if let Some(claim) = change.claim {
            self.apply_claim(claim, change.at);
        }
        for reservation in change.reserve {
            self.reservations.insert(reservation.key.clone(), reservation);
        }
        for key in &change.unreserve {
            self.reservations.remove(key);
        }
        for write in change.writes {
            self.apply_write(write);
        }
        let first_entry = self.entries.len();
        self.apply_money(moved);
        let (mut committed, mut lanes) = (Committed::default(), Vec::new());
        for event in change.events {
            let mut made = self.entries.iter().skip(first_entry);
            let available = LedgerAccount::Merchant(event.account, Bucket::Available);
            let credit = made.find(|entry| entry.kind == EntryKind::Split && entry.account == available);
            let event = match credit {
                Some(credit) if event.kind == EventType::SplitReceived => event.with_entry(credit.id),
                Some(_) | None => event,
            };
            let sequence = self.next_sequence(event.account);
            lanes.extend(self.fan_out(&event, sequence, change.at));
            committed.sequences.push(sequence);
            self.events.entry(event.account).or_default().push(StoredEvent { sequence, event });
        }
        (committed, lanes)
    }

    fn apply_money(&mut self, moved: Moved) {
        for entry in moved.entries {
            self.balances.insert(entry.account.clone(), entry.balance_after);
            self.entries.push(entry);
        }
        self.taken.extend(moved.taken);
        for (key, block) in moved.blocks {
            match block {
                Some(block) => self.blocks.insert(key, block),
                None => self.blocks.remove(&key),
            };
        }
    }

    fn apply_claim(&mut self, change: ClaimChange, at: Timestamp) {
        let name = change.name().clone();
        match change {
            ClaimChange::Take(new) => {
                self.claims.insert(name, first_use(new, at));
            }
            ClaimChange::Retake { fence, lease_until, .. } => self.change_claim(&name, |claim| {
                claim.fence = fence.saturating_add(1);
                claim.lease_until = lease_until;
                claim.due_at = Some(lease_until);
            }),
            ClaimChange::Answer { answer, .. } => self.change_claim(&name, |claim| {
                claim.answer = Some(answer);
                claim.due_at = None;
            }),
            ClaimChange::Release { due_at, .. } => self.change_claim(&name, |claim| {
                claim.lease_until = at;
                claim.due_at = due_at;
            }),
        }
    }

    fn change_claim(&mut self, name: &ClaimRef, change: impl FnOnce(&mut Claim)) {
        if let Some(claim) = self.claims.get_mut(name) {
            change(claim);
        }
    }

    fn next_sequence(&mut self, account: AccountId) -> i64 {
        let last = self.sequences.entry(account).or_default();
        *last = last.saturating_add(1);
        *last
    }
}

/// An id of the store's own, greater than every one before, and beside all that a source of identifiers for tests gives.
pub(super) fn next_id<K: IdKind>() -> Id<K> {
    fresh::<K>().succ()
}

fn first_use(new: NewClaim, at: Timestamp) -> Claim {
    Claim {
        name: new.name,
        fingerprint: new.fingerprint,
        resource: new.resource,
        fence: 1,
        lease_until: new.lease_until,
        due_at: new.answer.is_none().then_some(new.lease_until),
        answer: new.answer,
        created_at: at,
    }
}
