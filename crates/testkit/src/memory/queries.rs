//! The read side of the store in memory.

use async_trait::async_trait;
use cais_domain::account::Account;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::api_key::KeyPrefix;
use cais_domain::charge::{Charge, ChargeState};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, ChargeId, NoticeId};
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_domain::pause::MAX_PAUSE;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use cais_ports::{
    AccountQueries, ApiKeyRecord, BalanceQueries, Balances, CLAIM_LEASE, ChargeQueries, Claim, ClaimQueries, ClaimRef,
    Due, KeyQueries, Notice, NoticeCounts, NoticeQueries, NoticeState, Page, PageRequest, QueryError, ReservationKey,
    ReservationQueries,
};
use jiff::Timestamp;

use super::MemoryStore;

/// The largest number of listed keys of an account.
const MAX_KEYS: usize = 200;

#[async_trait]
impl ChargeQueries for MemoryStore {
    async fn find_charge(&self, account: AccountId, id: ChargeId) -> Result<Option<Charge>, QueryError> {
        let state = self.read()?;
        let charge = state.charges.get(&id).filter(|charge| charge.account == account);
        Ok(charge.cloned())
    }

    async fn find_charge_by_txid(&self, txid: &Txid) -> Result<Option<Charge>, QueryError> {
        let state = self.read()?;
        Ok(state.charges.values().find(|charge| charge.txid == *txid).cloned())
    }

    async fn find_payment(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Option<CreditedPayment>, QueryError> {
        let state = self.read()?;
        let paid = state.payments.get(end_to_end_id).filter(|paid| paid.account == account);
        Ok(paid.map(|paid| state.with_refunds(paid)))
    }

    async fn list_charges(&self, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, QueryError> {
        let state = self.read()?;
        let newest_first = state.charges.values().rev();
        let visible = newest_first.filter(|charge| charge.account == account && charge.is_visible());
        Ok(cut(visible.cloned(), page, |charge| charge.id))
    }

    async fn list_overdue_charges(&self, before: Timestamp, limit: u32) -> Result<Vec<Charge>, QueryError> {
        let due = |charge: &Charge| match &charge.state {
            ChargeState::Pending(issued) => Some(issued.expires_at).filter(|end| *end < before),
            ChargeState::Creating { .. }
            | ChargeState::Abandoned { .. }
            | ChargeState::Paid(..)
            | ChargeState::Expired { .. }
            | ChargeState::Cancelled { .. }
            | ChargeState::Refunded { .. } => None,
        };
        Ok(oldest_due(self.read()?.charges.values(), due, limit))
    }
}

#[async_trait]
impl ReservationQueries for MemoryStore {
    async fn find_owner(&self, key: &ReservationKey) -> Result<Option<String>, QueryError> {
        let state = self.read()?;
        Ok(state.snapshot.keys.owners.get(key).cloned())
    }
}

#[async_trait]
impl ClaimQueries for MemoryStore {
    async fn find_claim(&self, name: &ClaimRef) -> Result<Option<Claim>, QueryError> {
        Ok(self.read()?.snapshot.keys.idempotency_records.get(name).cloned())
    }

    async fn list_due_claims(&self, now: Timestamp, limit: u32) -> Result<Vec<Claim>, QueryError> {
        let due = |claim: &Claim| {
            let waits = claim.answer.is_none() && Due::new(now, CLAIM_LEASE).is(claim.lease_until);
            claim.due_at.filter(|at| waits && Due::new(now, MAX_PAUSE).is(*at))
        };
        Ok(oldest_due(self.read()?.claims(), due, limit))
    }
}

#[async_trait]
impl AccountQueries for MemoryStore {
    async fn find_account(&self, id: AccountId) -> Result<Option<Account>, QueryError> {
        Ok(self.read()?.accounts.get(&id).cloned())
    }

    async fn find_account_by_email(&self, email: &str) -> Result<Option<Account>, QueryError> {
        let state = self.read()?;
        Ok(state.accounts.values().find(|account| account.email == email).cloned())
    }

    async fn list_accounts(&self, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError> {
        let state = self.read()?;
        Ok(cut(state.accounts.values().rev().cloned(), page, |account| account.id))
    }
}

#[async_trait]
impl KeyQueries for MemoryStore {
    async fn find_key(&self, prefix: &KeyPrefix) -> Result<Option<(ApiKeyRecord, Account)>, QueryError> {
        let state = self.read()?;
        let Some(key) = state.keys.values().find(|key| key.prefix == *prefix) else {
            return Ok(None);
        };
        match state.accounts.get(&key.account) {
            Some(account) => Ok(Some((key.clone(), account.clone()))),
            None => Err(QueryError::Corrupt("a key of no account".to_owned())),
        }
    }

    async fn list_keys(&self, account: AccountId) -> Result<Vec<ApiKeyRecord>, QueryError> {
        let state = self.read()?;
        let newest_first = state.keys.values().rev();
        let own = newest_first.filter(|key| key.account == account);
        Ok(own.take(MAX_KEYS).cloned().collect())
    }
}

#[async_trait]
impl BalanceQueries for MemoryStore {
    async fn balances(&self, account: AccountId) -> Result<Balances, QueryError> {
        let state = self.read()?;
        let part = |bucket| state.balance(&LedgerAccount::Merchant(account, bucket));
        Ok(Balances {
            available: part(Bucket::Available),
            pending: part(Bucket::Pending),
            blocked: part(Bucket::Blocked),
            in_transit: part(Bucket::InTransit),
        })
    }
}

#[async_trait]
impl NoticeQueries for MemoryStore {
    async fn list_due_notices(&self, now: Timestamp, limit: u32) -> Result<Vec<Notice>, QueryError> {
        let due = |notice: &Notice| {
            let waits = notice.state == NoticeState::Waiting;
            notice.due_at.filter(|at| waits && Due::new(now, MAX_PAUSE).is(*at))
        };
        Ok(oldest_due(self.read()?.notices.values(), due, limit))
    }

    async fn find_notice(&self, id: NoticeId) -> Result<Option<Notice>, QueryError> {
        Ok(self.read()?.notices.get(&id).cloned())
    }

    async fn find_named_notice(&self, acquirer: &AcquirerName, names: &[u8]) -> Result<Option<Notice>, QueryError> {
        let is_named = |notice: &&Notice| {
            notice.state != NoticeState::Done && notice.body == names && notice.acquirer == *acquirer
        };
        Ok(self.read()?.notices.values().find(is_named).cloned())
    }

    async fn list_unmatched_notices(&self, page: PageRequest<NoticeId>) -> Result<Page<Notice>, QueryError> {
        let state = self.read()?;
        let unmatched = state.notices.values().rev().filter(|notice| notice.state == NoticeState::Unmatched);
        Ok(cut(unmatched.cloned(), page, |notice| notice.id))
    }

    async fn count_notices(&self) -> Result<NoticeCounts, QueryError> {
        let state = self.read()?;
        let mut counts = NoticeCounts::default();
        for notice in state.notices.values() {
            let counts = match notice.state {
                NoticeState::Waiting => &mut counts.open,
                NoticeState::Unmatched => &mut counts.unmatched,
                NoticeState::Done => continue,
            };
            let count = counts.entry(notice.acquirer.clone()).or_default();
            *count = count.saturating_add(1);
        }
        Ok(counts)
    }
}

/// Returns a page of rows that are ordered newest first.
pub(super) fn cut<T, I: Ord>(rows: impl Iterator<Item = T>, page: PageRequest<I>, id: impl Fn(&T) -> I) -> Page<T> {
    let after = page.starting_after;
    let mut older = rows.filter(|row| after.as_ref().is_none_or(|after| id(row) < *after));
    let rows = older.by_ref().take(count(page.limit)).collect();
    Page { rows, has_more: older.next().is_some() }
}

/// Returns the due rows, the longest overdue first.
pub(super) fn oldest_due<'a, T: Clone + 'a>(
    rows: impl Iterator<Item = &'a T>,
    due: impl Fn(&T) -> Option<Timestamp>,
    limit: u32,
) -> Vec<T> {
    let mut waiting: Vec<(Timestamp, &T)> = rows.filter_map(|row| due(row).map(|since| (since, row))).collect();
    waiting.sort_by_key(|(since, _)| *since);
    waiting.truncate(count(limit));
    waiting.into_iter().map(|(_, row)| row.clone()).collect()
}

pub(super) fn count(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
