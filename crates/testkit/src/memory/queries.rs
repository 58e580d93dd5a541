//! The read side of the store in memory.

use std::cmp::Reverse;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::{Charge, ChargeState};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::{AccountId, CallbackId, ChargeId};
use cais_domain::ledger::{Bucket, LedgerAccount, SYSTEM_SHARDS, SystemAccount};
use cais_domain::merchant::account::{Account, Kyc};
use cais_domain::merchant::api_key::KeyPrefix;
use cais_domain::money::Money;
use cais_domain::pause::MAX_PAUSE;
use cais_domain::payment::CreditedPayment;
use cais_domain::txid::Txid;
use cais_ports::{
    AccountQueries, AnyRecord, ApiKeyRecord, BalanceQueries, Balances, Callback, CallbackCounts, CallbackQueries,
    CallbackState, ChargeQueries, Due, IdempotencyQueries, IdempotencyRecord, IdempotencyRef, KeyQueries, Page,
    PageRequest, QueryError, REQUEST_LEASE, RecordKey, RecordQueries, ReservationKey, ReservationQueries,
};
use jiff::Timestamp;

use super::MemoryStore;

/// The largest number of listed keys of an account.
const MAX_KEYS: usize = 200;

#[async_trait]
impl RecordQueries for MemoryStore {
    async fn find_record(&self, key: RecordKey) -> Result<Option<AnyRecord>, QueryError> {
        Ok(self.read()?.record(&key))
    }
}

#[async_trait]
impl ChargeQueries for MemoryStore {
    async fn find_charge(&self, account: AccountId, id: ChargeId) -> Result<Option<Charge>, QueryError> {
        let state = self.read()?;
        Ok(state.tables.charges.get(&RecordKey::Charge { account, id }).cloned())
    }

    async fn find_charge_by_txid(&self, txid: &Txid) -> Result<Option<Charge>, QueryError> {
        let state = self.read()?;
        Ok(state.tables.charges.values().find(|charge| charge.txid == *txid).cloned())
    }

    async fn find_payment(
        &self,
        account: AccountId,
        end_to_end_id: &EndToEndId,
    ) -> Result<Option<CreditedPayment>, QueryError> {
        let state = self.read()?;
        let key = RecordKey::Payment { account, end_to_end_id: end_to_end_id.clone() };
        let paid = state.tables.payments.get(&key);
        Ok(paid.map(|paid| state.with_refunds(paid)))
    }

    async fn list_charges(&self, account: AccountId, page: PageRequest<ChargeId>) -> Result<Page<Charge>, QueryError> {
        let state = self.read()?;
        let visible = state.tables.charges.values().filter(|charge| charge.account == account && charge.is_visible());
        Ok(cut(visible.cloned(), page, |charge| charge.id))
    }

    async fn list_charges_of_payer(
        &self,
        account: AccountId,
        payer_document: &str,
        limit: u32,
    ) -> Result<Vec<Charge>, QueryError> {
        let state = self.read()?;
        let has = |charge: &&Charge| {
            let document = charge.terms.payer_document.as_ref();
            charge.account == account
                && charge.is_visible()
                && document.is_some_and(|text| text.as_str() == payer_document)
        };
        let own = state.tables.charges.values().filter(has);
        Ok(cut(own.cloned(), PageRequest { limit, starting_after: None }, |charge| charge.id).rows)
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
        Ok(oldest_due(self.read()?.tables.charges.values(), due, limit))
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
impl IdempotencyQueries for MemoryStore {
    async fn find_idempotency_record(&self, name: &IdempotencyRef) -> Result<Option<IdempotencyRecord>, QueryError> {
        Ok(self.read()?.snapshot.keys.idempotency_records.get(name).cloned())
    }

    async fn list_due_idempotency_records(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<IdempotencyRecord>, QueryError> {
        let due = |record: &IdempotencyRecord| {
            let waits = record.answer.is_none() && Due::new(now, REQUEST_LEASE).is(record.lease_until);
            record.due_at.filter(|at| waits && Due::new(now, MAX_PAUSE).is(*at))
        };
        Ok(oldest_due(self.read()?.idempotency_records(), due, limit))
    }
}

#[async_trait]
impl AccountQueries for MemoryStore {
    async fn find_account(&self, id: AccountId) -> Result<Option<Account>, QueryError> {
        Ok(self.read()?.tables.accounts.get(&RecordKey::Account { id }).cloned())
    }

    async fn find_account_by_email(&self, email: &str) -> Result<Option<Account>, QueryError> {
        let state = self.read()?;
        Ok(state.tables.accounts.values().find(|account| account.email == email).cloned())
    }

    async fn list_accounts(&self, kyc: Option<Kyc>, page: PageRequest<AccountId>) -> Result<Page<Account>, QueryError> {
        let state = self.read()?;
        let wanted = state.tables.accounts.values().filter(|account| kyc.is_none_or(|kyc| account.kyc == kyc));
        Ok(cut(wanted.cloned(), page, |account| account.id))
    }
}

#[async_trait]
impl KeyQueries for MemoryStore {
    async fn find_key(&self, prefix: &KeyPrefix) -> Result<Option<(ApiKeyRecord, Account)>, QueryError> {
        let state = self.read()?;
        let Some(key) = state.tables.keys.get(&RecordKey::Key { prefix: prefix.clone() }) else {
            return Ok(None);
        };
        match state.tables.accounts.get(&RecordKey::Account { id: key.account }) {
            Some(account) => Ok(Some((key.clone(), account.clone()))),
            None => Err(QueryError::Corrupt("the account of an API key does not exist".to_owned())),
        }
    }

    async fn list_keys(&self, account: AccountId) -> Result<Vec<ApiKeyRecord>, QueryError> {
        let state = self.read()?;
        let own = state.tables.keys.values().filter(|key| key.account == account);
        Ok(newest_first(own.cloned(), |key| key.id).take(MAX_KEYS).collect())
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

    async fn system_balance(&self, account: &SystemAccount) -> Result<Money, QueryError> {
        let state = self.read()?;
        let rows = (0..SYSTEM_SHARDS).map(|row| state.balance(&LedgerAccount::System(account.clone(), row)));
        Money::sum(rows).map_err(|error| QueryError::Corrupt(error.to_string()))
    }
}

#[async_trait]
impl CallbackQueries for MemoryStore {
    async fn list_due_callbacks(&self, now: Timestamp, limit: u32) -> Result<Vec<Callback>, QueryError> {
        let due = |callback: &Callback| {
            let waits = callback.state == CallbackState::Waiting;
            callback.due_at.filter(|at| waits && Due::new(now, MAX_PAUSE).is(*at))
        };
        Ok(oldest_due(self.read()?.tables.callbacks.values(), due, limit))
    }

    async fn find_named_callback(&self, acquirer: &AcquirerName, names: &[u8]) -> Result<Option<Callback>, QueryError> {
        let is_named = |callback: &&Callback| {
            callback.state != CallbackState::Done && callback.body == names && callback.acquirer == *acquirer
        };
        Ok(self.read()?.tables.callbacks.values().find(is_named).cloned())
    }

    async fn list_unmatched_callbacks(&self, page: PageRequest<CallbackId>) -> Result<Page<Callback>, QueryError> {
        let state = self.read()?;
        let unmatched = state.tables.callbacks.values().filter(|callback| callback.state == CallbackState::Unmatched);
        Ok(cut(unmatched.cloned(), page, |callback| callback.id))
    }

    async fn count_callbacks(&self) -> Result<CallbackCounts, QueryError> {
        let state = self.read()?;
        let mut counts = CallbackCounts::default();
        for callback in state.tables.callbacks.values() {
            let counts = match callback.state {
                CallbackState::Waiting => &mut counts.open,
                CallbackState::Unmatched => &mut counts.unmatched,
                CallbackState::Done => continue,
            };
            let count = counts.entry(callback.acquirer.clone()).or_default();
            *count = count.saturating_add(1);
        }
        Ok(counts)
    }
}

/// Returns rows in the descending order of their ids.
pub(super) fn newest_first<T, I: Ord>(rows: impl Iterator<Item = T>, id: impl Fn(&T) -> I) -> impl Iterator<Item = T> {
    let mut rows: Vec<T> = rows.collect();
    rows.sort_by_cached_key(|row| Reverse(id(row)));
    rows.into_iter()
}

/// Returns a page of rows, newest first.
pub(super) fn cut<T, I: Ord>(
    rows: impl Iterator<Item = T>,
    page: PageRequest<I>,
    id: impl Fn(&T) -> I + Copy,
) -> Page<T> {
    let after = page.starting_after;
    let rows = rows.filter(|row| after.as_ref().is_none_or(|after| id(row) < *after));
    let mut older = newest_first(rows, id);
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
