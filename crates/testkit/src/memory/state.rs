//! What the store in memory holds, and how a change set that was judged good becomes true.

use std::collections::BTreeMap;

use cais_domain::account::Account;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, EntryId, KeyId, NoticeId, PayoutId, RefundId};
use cais_domain::ledger::{EntryKind, LedgerAccount};
use cais_domain::money::Money;
use cais_domain::payment::CreditedPayment;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_ports::{
    ApiKeyRecord, ChangeSet, Claim, ClaimChange, ClaimRef, Committed, NewClaim, NewEvent, Notice, Reservation,
    ReservationKey, Write,
};
use jiff::Timestamp;

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

/// Everything that is true.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) claims: BTreeMap<ClaimRef, Claim>,
    pub(super) reservations: BTreeMap<ReservationKey, Reservation>,
    pub(super) accounts: BTreeMap<AccountId, Account>,
    pub(super) keys: BTreeMap<KeyId, ApiKeyRecord>,
    pub(super) charges: BTreeMap<ChargeId, Charge>,
    pub(super) payments: BTreeMap<EndToEndId, CreditedPayment>,
    pub(super) releases: BTreeMap<EndToEndId, Release>,
    pub(super) payouts: BTreeMap<PayoutId, Payout>,
    pub(super) refunds: BTreeMap<RefundId, Refund>,
    pub(super) notices: BTreeMap<NoticeId, Notice>,
    pub(super) balances: BTreeMap<LedgerAccount, Money>,
    pub(super) entries: Vec<Entry>,
    pub(super) events: BTreeMap<AccountId, Vec<StoredEvent>>,
}

impl State {
    pub(super) fn balance(&self, account: &LedgerAccount) -> Money {
        self.balances.get(account).copied().unwrap_or_default()
    }

    /// The last sequence number of the account's events; 0 before the first.
    pub(super) fn last_sequence(&self, account: AccountId) -> i64 {
        let last = self.events.get(&account).and_then(|events| events.last());
        last.map_or(0, |event| event.sequence)
    }

    /// Makes it true; `entries` are its transfers as they were judged.
    pub(super) fn apply(&mut self, change: ChangeSet, entries: Vec<Entry>) -> Committed {
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
        for entry in entries {
            self.balances.insert(entry.account.clone(), entry.balance_after);
            self.entries.push(entry);
        }
        let sequences = change.events.into_iter().map(|event| self.append(event));
        Committed { sequences: sequences.collect() }
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

    /// Only what the ports say may change does change.
    fn apply_write(&mut self, write: Write) {
        match write {
            Write::InsertAccount(account) => {
                self.accounts.insert(account.id, Account { version: 1, ..*account });
            }
            Write::UpdateAccount(account) => {
                if let Some(stored) = self.accounts.get_mut(&account.id) {
                    let (email, created_at) = (stored.email.clone(), stored.created_at);
                    let version = stored.version.saturating_add(1);
                    *stored = Account { email, created_at, version, ..*account };
                }
            }
            Write::InsertKey(key) => {
                self.keys.insert(key.id, ApiKeyRecord { version: 1, ..*key });
            }
            Write::UpdateKey(key) => {
                if let Some(stored) = self.keys.get_mut(&key.id) {
                    stored.revoked_at = key.revoked_at;
                    stored.expires_at = key.expires_at;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertCharge(charge) => {
                self.charges.insert(charge.id, Charge { version: 1, ..*charge });
            }
            Write::UpdateCharge(charge) => {
                if let Some(stored) = self.charges.get_mut(&charge.id) {
                    stored.state = charge.state;
                    stored.refunds = charge.refunds;
                    stored.open_infractions = charge.open_infractions;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertPayment(paid) => {
                self.payments.insert(paid.payment.end_to_end_id.clone(), *paid);
            }
            Write::InsertRelease(release) => {
                self.releases.insert(release.end_to_end_id.clone(), Release { version: 1, ..*release });
            }
            Write::UpdateRelease(release) => {
                if let Some(stored) = self.releases.get_mut(&release.end_to_end_id) {
                    stored.released_at = release.released_at;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertPayout(payout) => {
                self.payouts.insert(payout.id, Payout { version: 1, ..*payout });
            }
            Write::UpdatePayout(payout) => {
                if let Some(stored) = self.payouts.get_mut(&payout.id) {
                    stored.recipient = payout.recipient;
                    stored.returned = payout.returned;
                    stored.state = payout.state;
                    stored.due_at = payout.due_at;
                    stored.attempts = payout.attempts;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertRefund(refund) => {
                self.refunds.insert(refund.id, Refund { version: 1, ..*refund });
            }
            Write::UpdateRefund(refund) => {
                if let Some(stored) = self.refunds.get_mut(&refund.id) {
                    stored.state = refund.state;
                    stored.due_at = refund.due_at;
                    stored.attempts = refund.attempts;
                    stored.version = stored.version.saturating_add(1);
                }
            }
            Write::InsertNotice(notice) => {
                self.notices.insert(notice.id, Notice { version: 1, ..*notice });
            }
            Write::UpdateNotice(notice) => {
                if let Some(stored) = self.notices.get_mut(&notice.id) {
                    stored.state = notice.state;
                    stored.attempts = notice.attempts;
                    stored.due_at = notice.due_at;
                    stored.version = stored.version.saturating_add(1);
                }
            }
        }
    }

    fn append(&mut self, event: NewEvent) -> i64 {
        let sequence = self.last_sequence(event.account).saturating_add(1);
        let events = self.events.entry(event.account).or_default();
        events.push(StoredEvent { sequence, event });
        sequence
    }
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
